import { v5 } from 'uuid'
import type { Item, Key } from '../../projections/item.ts'
import { removed, type Change, type Get, type Timer } from '../../projections/projection.ts'
import type { Codec } from '../../schemas/codec.ts'
import type { Clock } from './clock.ts'
import type { Heard } from './decide.ts'
import { armedKey, timerKey, timerPartition } from './keys.ts'
import type { Log } from './log.ts'
import { NAMESPACE } from './outbox.ts'
import type { Store } from './store.ts'

/** An event that waits for its time, found by due time without a scan. Ids are of key, name and time: firing twice is one event. */
type TimerRow = Item & { readonly id: string; readonly key: string; readonly value: string }
type Armed = Key & { readonly at: number }

/** Arming replaces what was armed under the same name; disarming removes it. */
export const timerChanges = (codec: Codec) => (heard: Heard, timers: readonly Timer[], get: Get): readonly Change[] =>
  timers.flatMap((timer) => {
    const { key } = heard.event.meta
    const named = armedKey(key, timer.name)
    const was = get<Armed>(named)
    const clear = was === undefined ? [] : [removed(timerKey(heard.partition, { at: was.at, key, name: timer.name }))]
    if (timer.at === null || timer.event === undefined) return was === undefined ? [] : [...clear, removed(named)]
    const row = timerRow(codec, heard, { ...timer, at: timer.at, event: timer.event })
    return [...clear.filter(({ SK }) => SK !== row.SK), row, { ...named, at: timer.at }]
  })

type Armable = Timer & { readonly at: number; readonly event: NonNullable<Timer['event']> }

const timerRow = (codec: Codec, { event: cause, partition }: Heard, { name, at, event }: Armable): TimerRow => {
  const { key } = cause.meta
  const id = v5(`${key}:${name}:${at}`, NAMESPACE)
  const value = codec.encode({
    type: event.type,
    meta: {
      eventId: id,
      key,
      occurredAt: at,
      recordedAt: at,
      source: 'timer',
      correlationId: cause.meta.correlationId ?? cause.meta.eventId,
      causationId: cause.meta.eventId,
      actorId: null,
      subjectId: event.subjectId ?? null,
      request: null,
    },
    data: event.data,
    personal: event.personal ?? null,
  })
  return { ...timerKey(partition, { at, key, name }), id, key, value: Buffer.from(value).toString('base64') }
}

export interface TimerParts {
  readonly log: Log
  /** Timers are found in the serving generation only. */
  readonly store: () => Promise<Store>
  /** Says which were fired, so that one that is due is appended once though its fold may still be on its way. */
  readonly ledger: Store
  readonly partitions: number
  readonly clock: Clock
  readonly pollMs: number
  readonly failed: (error: unknown) => void
}

/** Looks for what is due and appends it; the fold of that event disarms it. */
export const startTimers = (parts: TimerParts): { stop(): Promise<void> } => {
  const stopping = new AbortController()
  const loop = async () => {
    while (!stopping.signal.aborted) {
      await fireDue(parts, stopping.signal).catch(parts.failed)
      await parts.clock.sleep(parts.pollMs, stopping.signal)
    }
  }
  const running = loop()
  return {
    stop: async () => {
      stopping.abort()
      await running
    },
  }
}

const fireDue = async ({ log, store, ledger, partitions, clock }: TimerParts, signal: AbortSignal): Promise<void> => {
  const reader = (await store()).reader(() => 0)
  for (let partition = 0; partition < partitions && !signal.aborted; partition += 1) {
    const due = await reader.query({ pk: timerPartition(partition), to: new Date(clock.now()).toISOString() + '~', from: '', limit: 100 })
    for (const row of due.items as readonly TimerRow[]) await fire(row, { log, ledger })
  }
}

const fire = async (row: TimerRow, { log, ledger }: Pick<TimerParts, 'log' | 'ledger'>): Promise<void> => {
  const fired = { PK: `FIRED#${row.id}`, SK: 'FIRED' }
  const [seen] = await ledger.load([fired])
  if (seen !== undefined) return
  // Appended before it is noted: a crash between means the same event twice, and its id is natural (law 8).
  await log.append([{ key: row.key, value: Buffer.from(row.value, 'base64') }])
  await ledger.commit([[[{ put: { ...fired, _pos: 1 }, expect: null }]]])
}
