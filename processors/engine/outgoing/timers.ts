import type { Item, Key } from '../../../projections/item.ts'
import { removed, type Change, type Get, type Timer } from '../../../projections/projection.ts'
import { pages } from '../../../projections/table.ts'
import type { Codec } from '../../../schemas/codec.ts'
import { Fault } from '../../../schemas/fault.ts'
import type { LoggedEvent } from '../fold/decide.ts'
import type { Ledger } from './ledger.ts'
import type { Log } from '../ports/log.ts'
import { encodeCaused, sentId } from './outbox.ts'
import { startPolling, type Polling, type PollingParts } from '../timing/polling.ts'
import { appendOnce } from './sender.ts'
import type { Store } from '../ports/store.ts'
import { armedKey, timerKey, timerPartition } from './keys.ts'

/**
 * The row of an event that is appended when its time has come. The sort key begins with the time, so that due rows are found without a
 * scan. The id of the event is derived from the event that set the timer and the time: each process that finds the row appends the same
 * event, and a timer that is set again for the same time appends another event.
 */
type TimerRow = Item & { readonly id: string; readonly key: string; readonly value: string }
type Armed = Key & { readonly at: number }

/** Returns the changes for the timers of an event. Setting a timer replaces the timer of the same name. Cancelling a timer removes it. */
export const timerChanges =
  (codec: Codec) =>
  (logged: LoggedEvent, timers: readonly Timer[], get: Get): readonly Change[] =>
    timers.flatMap((timer) => {
      const { key } = logged.event.meta
      const named = armedKey(key, timer.name)
      const was = get<Armed>(named)
      const clear =
        was === undefined ? [] : [removed(timerKey(logged.partition, { at: was.at, key, name: timer.name }))]
      if (timer.at === null || timer.event === undefined) return was === undefined ? [] : [...clear, removed(named)]
      const row = timerRow(codec, logged, { ...timer, at: timer.at, event: timer.event })
      return [...clear.filter(({ SK }) => SK !== row.SK), row, { ...named, at: timer.at }]
    })

/** The last instant that a timer can have. The texts of later instants do not sort by time. */
const LAST = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** True if the text of the instant sorts by time, so that a row can have it in its sort key. */
export const isInstantOfRow = (at: number): boolean => at >= 0 && at <= LAST

type Armable = Timer & { readonly at: number; readonly event: NonNullable<Timer['event']> }

const timerRow = (codec: Codec, { event: cause, partition }: LoggedEvent, { name, at, event }: Armable): TimerRow => {
  const { key } = cause.meta
  if (!isInstantOfRow(at))
    throw new Fault(
      'bad-timer',
      `The timer "${name}" of ${key} is set to ${at}, which is not between the years 1970 and 9999. Fix the fold.`,
    )
  const id = sentId(cause, `timer:${name}:${at}`)
  const value = encodeCaused(codec, cause, {
    event,
    meta: { eventId: id, occurredAt: at, recordedAt: at, source: 'timer', actorId: null },
  })
  return { ...timerKey(partition, { at, key, name }), id, key, value }
}

export interface TimerParts extends PollingParts {
  readonly log: Log
  /** The store of the serving generation. Only the timers of this generation fire. */
  readonly store: () => Promise<Store>
  readonly ledger: Ledger
  readonly partitions: number
}

const LIMIT = 100

/** Appends the events of due timers. The fold of such an event cancels its timer. */
export const startTimers = (parts: TimerParts): Polling => startPolling(parts, (signal) => fireDue(parts, signal))

const fireDue = async (parts: TimerParts, signal: AbortSignal): Promise<void> => {
  const { store, ledger, partitions, clock } = parts
  const reader = (await store()).reader(() => 0)
  const to = new Date(clock.now()).toISOString() + '~'
  for (let partition = 0; partition < partitions; partition += 1) {
    for await (const items of pages(reader, { pk: timerPartition(partition), from: '', to, limit: LIMIT })) {
      const due = items as readonly TimerRow[]
      // A row stays until its event is folded, so the events of some due rows are already in the log.
      const fired = await ledger.settled(due.map(({ id }) => id))
      for (const row of due) {
        if (signal.aborted) return
        if (!fired.has(row.id)) await appendOnce(parts, row)
      }
    }
  }
}
