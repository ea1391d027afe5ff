import type { Item, Key } from '../../../projections/item.ts'
import { everyItem } from '../../../projections/table.ts'
import type { Log, LogRecord, Position } from '../ports/log.ts'
import type { Store } from '../ports/store.ts'
import { changeRow } from '../rows/change-row.ts'
import { createDeliveryAttempts, type DeliveryAttempts } from './delivery-attempts.ts'
import { MARKS } from './keys.ts'

/** A decision about one event, stored in the control table. The decision applies in each generation and each rebuild. */
export interface Verdict extends Position {
  /** `discarded`: the event is skipped. `killed`: the event crashes processes, so its key stays parked until a retry is requested. */
  readonly what: 'discarded' | 'killed'
  /** The projection that skips the event. `*`: all projections. */
  readonly projection: string
  readonly key: string | null
  readonly reason: string
  readonly by: string
  /** The instant of the decision, in epoch milliseconds. */
  readonly at: number
}

export interface Verdicts {
  list(domain: string): Promise<readonly Verdict[]>
  /** Stores a verdict. A stored verdict `discarded` is never replaced. */
  put(domain: string, verdict: Verdict): Promise<void>
  /** Removes the verdict `killed` of an event, because a retry was requested. */
  clear(domain: string, position: Position): Promise<void>
  /** The delivery attempts of a generation. Absent if processes crash for other reasons than their events, as in the simulation. */
  readonly attempts?: ((domain: string, generation: number, processName: string) => DeliveryAttempts) | undefined
}

const PAGE = 200
const pkOf = (domain: string): string => `${MARKS}${domain}`
const keyOf = (
  domain: string,
  { partition, offset, projection }: Pick<Verdict, 'partition' | 'offset' | 'projection'>,
): Key => ({
  PK: pkOf(domain),
  SK: `${String(partition).padStart(5, '0')}#${String(offset).padStart(16, '0')}#${projection}`,
})

/** Stores the verdicts in the control table. */
export const createVerdicts = (store: Store): Verdicts => {
  const list: Verdicts['list'] = async (domain) =>
    (
      await everyItem(
        store.reader(() => 0),
        { pk: pkOf(domain), limit: PAGE },
      )
    ).map(toVerdict)
  const put: Verdicts['put'] = async (domain, verdict) => {
    const key = keyOf(domain, verdict)
    await changeRow(store, key, (was) => (was?.['what'] === 'discarded' ? undefined : { ...key, ...verdict }))
  }
  const clear: Verdicts['clear'] = async (domain, { partition, offset }) => {
    const crashing = (await list(domain)).filter(
      (verdict) => verdict.what === 'killed' && verdict.partition === partition && verdict.offset === offset,
    )
    for (const verdict of crashing)
      await changeRow(store, keyOf(domain, verdict), (was) => (was?.['what'] === 'killed' ? null : undefined))
  }
  return {
    list,
    put,
    clear,
    attempts: (domain, generation, processName) => createDeliveryAttempts(store, { domain, generation, processName }),
  }
}

const toVerdict = (item: Item): Verdict => ({
  what: item['what'] === 'killed' ? 'killed' : 'discarded',
  partition: item['partition'] as number,
  offset: item['offset'] as number,
  projection: String(item['projection']),
  key: item['key'] === null ? null : String(item['key']),
  reason: String(item['reason']),
  by: String(item['by']),
  at: item['at'] as number,
})

export interface VerdictReader {
  /** Reads the stored verdicts, for a thread that reads the same log. */
  verdicts(): Promise<readonly Verdict[]>
  /** Reads the verdicts again. Subscribers see them from the next batch on. */
  refresh(): Promise<void>
}

/**
 * Returns the log with the verdicts added to its records. Reads the stored verdicts again before each read of the log, and when a partition
 * is assigned.
 */
export const withVerdicts = <L extends Partial<Log>>(
  log: L,
  verdicts: () => Promise<readonly Verdict[]>,
): L & VerdictReader => {
  let known = byPosition([])
  const refresh = async (): Promise<void> => {
    known = byPosition(await verdicts())
  }
  const judged = (records: readonly LogRecord[]): readonly LogRecord[] => {
    const ofPartition = known.size === 0 || records[0] === undefined ? undefined : known.get(records[0].partition)
    if (ofPartition === undefined || !records.some(({ offset }) => ofPartition.has(offset))) return records
    return records.map((record) =>
      ofPartition.has(record.offset) ? { ...record, ...ofPartition.get(record.offset) } : record,
    )
  }
  const refreshed = async function* (source: AsyncIterable<readonly LogRecord[]>) {
    await refresh()
    for await (const records of source) yield judged(records)
  }
  const { read, readKey, subscribe } = log
  return {
    ...log,
    verdicts,
    refresh,
    ...(read && { read: (partition: number, from: number, to?: number) => refreshed(read(partition, from, to)) }),
    ...(readKey && { readKey: (key: string, from?: number) => refreshed(readKey(key, from)) }),
    ...(subscribe && { subscribe: subscribing(subscribe, { refresh, judged }) }),
  }
}

const subscribing =
  (
    subscribe: Log['subscribe'],
    {
      refresh,
      judged,
    }: Pick<VerdictReader, 'refresh'> & { judged: (records: readonly LogRecord[]) => readonly LogRecord[] },
  ): Log['subscribe'] =>
  (group, subscriber) =>
    subscribe(group, {
      ...subscriber,
      assigned: async (marks) => {
        await refresh()
        return subscriber.assigned(marks)
      },
      batch: (records, assignment) => subscriber.batch(judged(records), assignment),
    })

type Judgement = Pick<LogRecord, 'discarded' | 'crashes'>

const byPosition = (verdicts: readonly Verdict[]): ReadonlyMap<number, ReadonlyMap<number, Judgement>> => {
  const byPartition = new Map<number, Map<number, Judgement>>()
  for (const { partition, offset, what, projection } of verdicts) {
    const byOffset = byPartition.get(partition) ?? new Map<number, Judgement>()
    const was = byOffset.get(offset) ?? {}
    const discarded = [...(was.discarded ?? []), projection]
    byPartition.set(
      partition,
      byOffset.set(offset, what === 'killed' ? { ...was, crashes: true } : { ...was, discarded }),
    )
  }
  return byPartition
}
