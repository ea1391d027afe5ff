import { isExpired, keyOf, stamped, type Item, type Key, type Stored } from '../../projections/item.ts'
import type { Domain, Get, Outcome } from '../../projections/projection.ts'
import { withKeys, type Codec } from '../../schemas/codec.ts'
import { messageOf } from '../../schemas/fault.ts'
import { decide, decidersOf, type Decider, type Heard } from './decide.ts'
import type { Log, LogRecord } from './log.ts'
import { EVERY, read } from './sort.ts'
import { timerChanges } from './timers.ts'

/** One item as an event found it and left it; absent is undefined. */
export interface Touched extends Key {
  readonly before: Stored | undefined
  readonly after: Stored | undefined
}

/** One event of a key, what was decided about it and what it changed. */
export interface Told {
  readonly partition: number
  readonly offset: number
  /** When the log took it, epoch milliseconds. */
  readonly appendedAt: number
  readonly heard?: Heard
  readonly outcome: Outcome
  readonly changes: readonly Touched[]
}

export interface HistoryParts {
  readonly domain: Domain
  readonly codec: Codec
  readonly log: Pick<Log, 'readKey'>
  readonly key: string
}

/** Every event of one key in order, folded afresh from nothing: how each of its items came to be what it is. */
export async function* historyOf({ domain, codec, log, key }: HistoryParts): AsyncGenerator<Told> {
  const items = new Map<string, Stored>()
  const standing = new Set<string>()
  const deciders = decidersOf(domain, { outbox: undefined, timers: timerChanges(codec) })
  for await (const records of log.readKey(key)) {
    for (const record of records) {
      const { partition, offset, timestamp: appendedAt } = record
      const found = standing.has(EVERY) ? undefined : await withKeys(codec, () => records.map(({ value }) => value), () => read(codec, record))
      if (found === 'discarded') yield { partition, offset, appendedAt, outcome: DISCARDED, changes: [] }
      else if (found !== undefined && !('error' in found)) yield { appendedAt, ...tell(heardBy(deciders, record), found, { items, standing, ttl: domain.table.ttl }) }
      else {
        standing.add(EVERY)
        yield { partition, offset, appendedAt, outcome: found === undefined ? BEHIND : { kind: 'parked', reason: messageOf(found.error) }, changes: [] }
      }
    }
  }
}

/** Those for which the event was not discarded. */
const heardBy = (deciders: readonly Decider[], { discarded }: LogRecord): readonly Decider[] =>
  discarded === undefined ? deciders : deciders.filter(({ projection }) => !discarded.includes(projection.name))

const DISCARDED: Outcome = { kind: 'refused', refusal: { code: 'discarded', detail: 'Somebody gave it up; who and why: tributary parked --discarded.' } }
const BEHIND: Outcome = { kind: 'parked', reason: 'an earlier event of this key could not be folded', behind: true }

interface Known {
  readonly items: Map<string, Stored>
  /** Projections in which the key stands still. */
  readonly standing: Set<string>
  readonly ttl: string
}

const tell = (deciders: readonly Decider[], heard: Heard, known: Known): Omit<Told, 'appendedAt'> => {
  const { event, partition, offset } = heard
  const changes: Touched[] = []
  let outcome: Outcome = { kind: 'applied' }
  for (const decider of deciders) {
    const { folds, name } = decider.projection
    if (folds[event.type] === undefined) continue
    const decided = decider.decides.has(event.type)
    if (known.standing.has(name)) {
      if (decided) outcome = BEHIND
      continue
    }
    try {
      const said = apply(decider, heard, { ...known, changes })
      if (decided) outcome = said
    } catch (error) {
      known.standing.add(name)
      if (decided) outcome = { kind: 'parked', reason: messageOf(error) }
    }
  }
  return { partition, offset, heard, outcome, changes }
}

const apply = (decider: Decider, heard: Heard, { items, ttl, changes }: Known & { readonly changes: Touched[] }): Outcome => {
  const at = heard.event.meta.recordedAt
  const get: Get = <I extends Item>(key: Key) => {
    const item = items.get(keyOf(key))
    return item === undefined || isExpired(item, ttl, at) ? undefined : (item as Item as I)
  }
  const decision = decide(decider, heard, get)
  for (const change of decision.changes) decider.measure(change)
  for (const change of decision.changes) {
    const id = keyOf(change)
    const before = items.get(id)
    const after = '_removed' in change ? undefined : stamped(change as Item, heard.offset)
    if (after === undefined) items.delete(id)
    else items.set(id, after)
    changes.push({ PK: change.PK, SK: change.SK, before, after })
  }
  return decision.outcome
}
