import type { SilenceDue } from '../../schemas/generated/scales.ts'
import { NOTHING, type Get, type Result } from '../../projections/projection.ts'
import { isoOf, msOf } from '../../projections/instant.ts'
import type { DeviceItem } from '../../projections/scales/items.ts'
import { activeAlerts, isId, locationSettings, tapStates } from '../../projections/scales/keys.ts'
import { settingsOf } from '../../projections/scales/settings.ts'
import { startWork, type Work } from '../folding/work.ts'
import { endOf, fire, resolve, type Subject } from './alerts.ts'
import { ownedDevice } from './owned-devices.ts'
import { endUnobservedPour } from './timeline-update.ts'
import { tapNow } from './timeline.ts'

/**
 * Sets the silence timer of a device. Readings do not set the timer again. Instead, the fold of SilenceDue sets it again
 * for the remaining time if a reading has arrived.
 */
export const armSilenceTimer = (work: Work, loc: string, device: string, since: number): void => {
  const at = since + settingsOf(work.get(locationSettings.key(loc))).silent_after_secs * 1000
  work.arm({ name: timerOf(device), at, event: { type: 'SilenceDue', key: loc, data: { device_id: device } } })
}

export const disarmSilenceTimer = (work: Work, device: string): void => work.arm({ name: timerOf(device), at: null })

const silenceOf = (loc: string, device: string): Subject => ({ loc, type: 'silent_device', entity: `DEVICE#${device}` })

const timerOf = (device: string): string => `silence:${device}`

/** Fires the silence alert of a device. If the device has sent a reading since, sets its timer again instead. */
export const silenceDue = ({ data, meta }: SilenceDue, get: Get): Result => {
  if (!isId(data.device_id)) return NOTHING
  const work = startWork(get)
  const item = ownedDevice(work, meta.key, data.device_id)?.item
  const last = item && silenceStartOf(work, item)
  if (item === undefined || last === undefined || item._silent) disarmSilenceTimer(work, data.device_id)
  else if (last + settingsOf(get(locationSettings.key(meta.key))).silent_after_secs * 1000 > meta.occurredAt)
    armSilenceTimer(work, meta.key, data.device_id, last)
  else fireSilence(work, item, { last, at: meta.occurredAt })
  endPour(work, item, meta.occurredAt)
  return work.result()
}

/** Folds SilenceDue for the series: if a pour is under way, ends it. */
export const silenceMeasured = ({ data, meta }: SilenceDue, get: Get): Result => {
  const work = startWork(get)
  endPour(work, ownedDevice(work, meta.key, data.device_id)?.item, meta.occurredAt)
  return work.result()
}

/** Ends the pour under way on the device's tap if the newest reading of the tap is too old. Both the scales and their series use this. */
const endPour = (work: Work, item: DeviceItem | undefined, at: number): void => {
  if (item === undefined || item.tap === null) return
  const tapKey = { loc: item.loc_id, tap: item.tap }
  const last = work.get(tapStates.key(tapKey.loc, tapKey.tap))?.updated_at ?? null
  if (
    last !== null &&
    msOf(last) + settingsOf(work.get(locationSettings.key(tapKey.loc))).silent_after_secs * 1000 <= at
  )
    endUnobservedPour(work, tapKey, false)
}

/**
 * The instant from which silence is counted: the latest of the device's last reading on its tap, its assignment to
 * the tap, its registration and the end of its previous silence. Undefined if the device has no tap.
 */
const silenceStartOf = (
  work: Work,
  { loc_id, device_id, registered_at, _places, _back = 0 }: DeviceItem,
): number | undefined => {
  const tap = tapNow(_places)
  if (tap === null) return undefined
  const state = work.get(tapStates.key(loc_id, tap))
  const since = Math.max(_back, msOf(registered_at), _places.at(-1)?.from ?? 0)
  return state?._device === device_id && state.updated_at !== null ? Math.max(since, msOf(state.updated_at)) : since
}

const fireSilence = (
  work: Work,
  item: DeviceItem,
  { last, at }: { readonly last: number; readonly at: number },
): void => {
  const subject = silenceOf(item.loc_id, item.device_id)
  const { type, entity } = subject
  const threshold = settingsOf(work.get(locationSettings.key(item.loc_id))).silent_after_secs
  disarmSilenceTimer(work, item.device_id)
  work.put({ ...item, _silent: true })
  fire(
    work,
    subject,
    {
      ...activeAlerts.key(item.loc_id, type, entity),
      type,
      entity,
      state: 'pending',
      value: Math.floor((at - last) / 1000),
      threshold,
      started_at: isoOf(last),
    },
    at,
  )
}

/** Ends the silence alert after a reading. Returns the device without the alert. */
export const endSilence = (work: Work, item: DeviceItem, at: number): DeviceItem => {
  if (!item._silent) return item
  const { _silent, ...rest } = item
  const subject = silenceOf(item.loc_id, item.device_id)
  const alert = work.get(activeAlerts.key(subject.loc, subject.type, subject.entity))
  resolve(work, subject, at)
  return alert === undefined ? rest : { ...rest, _back: endOf(alert, at) }
}
