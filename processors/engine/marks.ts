import type { Item, Key } from '../../projections/item.ts'
import { everyItem } from '../../projections/table.ts'
import { changeRow } from './change-row.ts'
import type { Log, LogRecord, Position } from './log.ts'
import type { Store } from './store.ts'
import { createTries, type Tries } from './tries.ts'

/** What is known of one event beside the log, durably, in the control table: it holds in every generation and every rebuild. */
export interface Mark extends Position {
  /** `killed`: whoever folded it died. It stays parked, and is not tried unasked. */
  readonly what: 'discarded' | 'killed'
  /** Whose fold leaves it out; `*` for every one. */
  readonly projection: string
  readonly key: string | null
  readonly reason: string
  readonly by: string
  /** Epoch milliseconds. */
  readonly at: number
}

export interface Marks {
  of(domain: string): Promise<readonly Mark[]>
  /** A discard stands; anything else is written over. */
  put(domain: string, mark: Mark): Promise<void>
  /** Takes back that an event kills: somebody asked to try it again. */
  clear(domain: string, position: Position): Promise<void>
  /** The batches that the processors of a generation are folding. Absent if the death of a process says nothing about the event it folded. */
  readonly tries?: ((domain: string, generation: number, me: string) => Tries) | undefined
}

const PAGE = 200
const pk = (domain: string): string => `MARKS#${domain}`
const keyOfMark = (domain: string, { partition, offset, projection }: Pick<Mark, 'partition' | 'offset' | 'projection'>): Key => ({
  PK: pk(domain),
  SK: `${String(partition).padStart(5, '0')}#${String(offset).padStart(16, '0')}#${projection}`,
})

/** Over the control table. */
export const createMarks = (store: Store): Marks => {
  const of: Marks['of'] = async (domain) => (await everyItem(store.reader(() => 0), { pk: pk(domain), limit: PAGE })).map(toMark)
  const put: Marks['put'] = async (domain, mark) => {
    const key = keyOfMark(domain, mark)
    await changeRow(store, key, (was) => (was?.['what'] === 'discarded' ? undefined : { ...key, ...mark }))
  }
  const clear: Marks['clear'] = async (domain, { partition, offset }) => {
    const marked = (await of(domain)).filter((mark) => mark.what === 'killed' && mark.partition === partition && mark.offset === offset)
    for (const mark of marked) await changeRow(store, keyOfMark(domain, mark), (was) => (was?.['what'] === 'killed' ? null : undefined))
  }
  return { of, put, clear, tries: (domain, generation, me) => createTries(store, { domain, generation, me }) }
}

const toMark = (item: Item): Mark => ({
  what: item['what'] === 'killed' ? 'killed' : 'discarded',
  partition: item['partition'] as number,
  offset: item['offset'] as number,
  projection: String(item['projection']),
  key: item['key'] === null ? null : String(item['key']),
  reason: String(item['reason']),
  by: String(item['by']),
  at: item['at'] as number,
})

/** The log with the marks of its records, as of the last refresh: a fold can see that a record was discarded or kills processes. */
export const withMarks = <L extends Partial<Log>>(log: L, marks: () => Promise<readonly Mark[]>): L & Marked => {
  let known = byPosition([])
  const refresh = async (): Promise<void> => {
    known = byPosition(await marks())
  }
  const marked = (records: readonly LogRecord[]): readonly LogRecord[] => {
    const mine = known.size === 0 || records[0] === undefined ? undefined : known.get(records[0].partition)
    if (mine === undefined || !records.some(({ offset }) => mine.has(offset))) return records
    return records.map((record) => (mine.has(record.offset) ? { ...record, ...mine.get(record.offset) } : record))
  }
  const through = async function* (source: AsyncIterable<readonly LogRecord[]>) {
    await refresh()
    for await (const records of source) yield marked(records)
  }
  const { read, readKey, subscribe } = log
  return {
    ...log,
    marks,
    refresh,
    ...(read && { read: (partition: number, from: number, to?: number) => through(read(partition, from, to)) }),
    ...(readKey && { readKey: (key: string, from?: number) => through(readKey(key, from)) }),
    ...(subscribe && { subscribe: subscribing(subscribe, { refresh, marked }) }),
  }
}

export interface Marked {
  /** The marks of now, for whoever reads the same log in another thread. */
  marks(): Promise<readonly Mark[]>
  /** Looks at the control table again, for those who follow. */
  refresh(): Promise<void>
}

const subscribing = (subscribe: Log['subscribe'], { refresh, marked }: Pick<Marked, 'refresh'> & { marked: (records: readonly LogRecord[]) => readonly LogRecord[] }): Log['subscribe'] =>
  (group, subscriber) => subscribe(group, {
    ...subscriber,
    assigned: async (marks) => {
      await refresh()
      return subscriber.assigned(marks)
    },
    batch: (records, lease) => subscriber.batch(marked(records), lease),
  })

type Known = Pick<LogRecord, 'discarded' | 'killed'>

const byPosition = (marks: readonly Mark[]): ReadonlyMap<number, ReadonlyMap<number, Known>> => {
  const found = new Map<number, Map<number, Known>>()
  for (const { partition, offset, what, projection } of marks) {
    const mine = found.get(partition) ?? new Map<number, Known>()
    const was = mine.get(offset) ?? {}
    found.set(partition, mine.set(offset, what === 'killed' ? { ...was, killed: true } : { ...was, discarded: [...(was.discarded ?? []), projection] }))
  }
  return found
}
