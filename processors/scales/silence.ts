import type { SilenceDue } from '../../schemas/generated/scales.ts'
import { NOTHING, type Get, type Result } from '../../projections/projection.ts'
import { isoOf, msOf } from '../../projections/instant.ts'
import type { DeviceItem } from '../../projections/scales/items.ts'
import { activeAlerts, isId, locationSettings, tapStates } from '../../projections/scales/keys.ts'
import { settingsOf } from '../../projections/scales/settings.ts'
import { startWork, type Work } from '../access/work.ts'
import { endOf, fire, resolve, type Subject } from './alerts.ts'
import { deviceHeld } from './held.ts'
import { leavePour } from './retell.ts'
import { tapNow } from './timeline.ts'

/** A device under a tap is waited for; the timer is set anew when it fires, not by every reading. */
export const awaitReading = (work: Work, loc: string, device: string, since: number): void => {
  const at = since + settingsOf(work.get(locationSettings.key(loc))).silent_after_secs * 1000
  work.arm({ name: timerOf(device), at, event: { type: 'SilenceDue', key: loc, data: { device_id: device } } })
}

export const awaitNothing = (work: Work, device: string): void => work.arm({ name: timerOf(device), at: null })

const silentOf = (loc: string, device: string): Subject => ({ loc, type: 'silent_device', entity: `DEVICE#${device}` })

const timerOf = (device: string): string => `silence:${device}`

export const silenceDue = ({ data, meta }: SilenceDue, get: Get): Result => {
  if (!isId(data.device_id)) return NOTHING
  const work = startWork(get)
  const item = deviceHeld(work, meta.key, data.device_id)?.item
  const last = item && lastHeard(work, item)
  if (item === undefined || last === undefined || item._silent) awaitNothing(work, data.device_id)
  else if (last + settingsOf(get(locationSettings.key(meta.key))).silent_after_secs * 1000 > meta.occurredAt) awaitReading(work, meta.key, data.device_id, last)
  else raise(work, item, { last, at: meta.occurredAt })
  endPour(work, item, meta.occurredAt)
  return work.result()
}

/** What the series go by of a silence. */
export const silenceMeasured = ({ data, meta }: SilenceDue, get: Get): Result => {
  const work = startWork(get)
  endPour(work, deviceHeld(work, meta.key, data.device_id)?.item, meta.occurredAt)
  return work.result()
}

/** By the tap's newest reading alone, which the series know as well. */
const endPour = (work: Work, item: DeviceItem | undefined, at: number): void => {
  if (item === undefined || item.tap === null) return
  const place = { loc: item.loc_id, tap: item.tap }
  const last = work.get(tapStates.key(place.loc, place.tap))?.updated_at ?? null
  if (last !== null && msOf(last) + settingsOf(work.get(locationSettings.key(place.loc))).silent_after_secs * 1000 <= at) leavePour(work, place, false)
}

/** When its tap was last read by it, or else since when it stands there, or was registered, or its last silence ended; undefined where it stands nowhere. */
const lastHeard = (work: Work, { loc_id, device_id, registered_at, _places, _back = 0 }: DeviceItem): number | undefined => {
  const tap = tapNow(_places)
  if (tap === null) return undefined
  const state = work.get(tapStates.key(loc_id, tap))
  const since = Math.max(_back, msOf(registered_at), _places.at(-1)?.from ?? 0)
  return state?._device === device_id && state.updated_at !== null ? Math.max(since, msOf(state.updated_at)) : since
}

const raise = (work: Work, item: DeviceItem, { last, at }: { readonly last: number; readonly at: number }): void => {
  const subject = silentOf(item.loc_id, item.device_id)
  const { type, entity } = subject
  const threshold = settingsOf(work.get(locationSettings.key(item.loc_id))).silent_after_secs
  awaitNothing(work, item.device_id)
  work.put({ ...item, _silent: true })
  fire(work, subject, { ...activeAlerts.key(item.loc_id, type, entity), type, entity, state: 'pending', value: Math.floor((at - last) / 1000), threshold, started_at: isoOf(last) }, at)
}

/** It was heard again: the device without its alert. */
export const broken = (work: Work, item: DeviceItem, at: number): DeviceItem => {
  if (!item._silent) return item
  const { _silent, ...rest } = item
  const subject = silentOf(item.loc_id, item.device_id)
  const alert = work.get(activeAlerts.key(subject.loc, subject.type, subject.entity))
  resolve(work, subject, at)
  return alert === undefined ? rest : { ...rest, _back: endOf(alert, at) }
}
