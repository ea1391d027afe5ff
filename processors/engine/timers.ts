import type { Item, Key } from '../../projections/item.ts'
import { removed, type Change, type Get, type Timer } from '../../projections/projection.ts'
import { pages } from '../../projections/table.ts'
import type { Codec } from '../../schemas/codec.ts'
import { Fault } from '../../schemas/fault.ts'
import type { Heard } from './decide.ts'
import { armedKey, timerKey, timerPartition } from './keys.ts'
import type { Ledger } from './ledger.ts'
import type { Log } from './log.ts'
import { encodeCaused, sentId } from './outbox.ts'
import { startPolling, type Polling, type PollingParts } from './polling.ts'
import { appendOnce } from './sender.ts'
import type { Store } from './store.ts'

/**
 * An event that waits for its time, found by due time without a scan. Its id is of what armed it and the time: whoever finds it, it
 * is one event, and armed again for the same time after it fired, it is another.
 */
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

/** The last instant that sorts by its text. */
const LAST = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

type Armable = Timer & { readonly at: number; readonly event: NonNullable<Timer['event']> }

const timerRow = (codec: Codec, { event: cause, partition }: Heard, { name, at, event }: Armable): TimerRow => {
  const { key } = cause.meta
  if (!(at >= 0 && at <= LAST)) throw new Fault('bad-timer', `The timer "${name}" of ${key} is set to ${at}, which is no instant from 1970 to the year 9999. Mend the fold.`)
  const id = sentId(cause, `timer:${name}:${at}`)
  const value = encodeCaused(codec, cause, { event, meta: { eventId: id, occurredAt: at, recordedAt: at, source: 'timer', actorId: null } })
  return { ...timerKey(partition, { at, key, name }), id, key, value }
}

export interface TimerParts extends PollingParts {
  readonly log: Log
  /** Timers are found in the serving generation only. */
  readonly store: () => Promise<Store>
  readonly ledger: Ledger
  readonly partitions: number
}

const LIMIT = 100

/** Looks for what is due and appends it; the fold of that event disarms it. */
export const startTimers = (parts: TimerParts): Polling => startPolling(parts, (signal) => fireDue(parts, signal))

const fireDue = async (parts: TimerParts, signal: AbortSignal): Promise<void> => {
  const { store, ledger, partitions, clock } = parts
  const reader = (await store()).reader(() => 0)
  const to = new Date(clock.now()).toISOString() + '~'
  for (let partition = 0; partition < partitions; partition += 1) {
    for await (const items of pages(reader, { pk: timerPartition(partition), from: '', to, limit: LIMIT })) {
      const due = items as readonly TimerRow[]
      // What fired and is not folded yet is still there.
      const fired = await ledger.settled(due.map(({ id }) => id))
      for (const row of due) {
        if (signal.aborted) return
        if (!fired.has(row.id)) await appendOnce(parts, row)
      }
    }
  }
}
