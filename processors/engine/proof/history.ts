import { keyOf, stamped, type Key, type Stored } from '../../../projections/item.ts'
import type { Domain, Outcome } from '../../../projections/projection.ts'
import { withKeys, type Codec } from '../../../schemas/codec.ts'
import type { LoggedEvent } from '../fold/decide.ts'
import type { Log } from '../ports/log.ts'
import { createReplay } from '../rebuild/replay.ts'

/** One item before and after an event. Undefined: the item was absent. */
export interface Touched extends Key {
  readonly before: Stored | undefined
  readonly after: Stored | undefined
}

/** One event of a key with its outcome and its changes. */
export interface ExplainedEvent {
  readonly partition: number
  readonly offset: number
  /** The instant at which the log stored the event, in epoch milliseconds. */
  readonly appendedAt: number
  readonly logged?: LoggedEvent
  readonly outcome: Outcome
  readonly changes: readonly Touched[]
}

export interface HistoryParts {
  readonly domain: Domain
  readonly codec: Codec
  readonly log: Pick<Log, 'readKey'>
  readonly key: string
}

/** Yields the events of one key in order. Folds them as a build does, into items in memory. */
export async function* historyOf({ domain, codec, log, key }: HistoryParts): AsyncGenerator<ExplainedEvent> {
  const items = new Map<string, Stored>()
  let changes: Touched[] = []
  const change = ({ PK, SK }: Key, after: Stored | undefined): void => {
    const id = keyOf({ PK, SK })
    changes.push({ PK, SK, before: items.get(id), after })
    if (after === undefined) items.delete(id)
    else items.set(id, after)
  }
  const { fold } = createReplay(
    { domain, codec },
    {
      items: {
        find: (of) => items.get(keyOf(of)),
        put: (item, offset) => change(item, stamped(item, offset)),
        remove: (of) => change(of, undefined),
      },
      points: { add: () => {} },
      parked: [],
      parkedBefore: [],
      through: 0,
    },
  )
  for await (const records of log.readKey(key)) {
    for (const record of records) {
      changes = []
      const folded = await withKeys(
        codec,
        () => records.map(({ value }) => value),
        () => fold(record),
      )
      yield { partition: record.partition, offset: record.offset, appendedAt: record.timestamp, ...folded, changes }
    }
  }
}
