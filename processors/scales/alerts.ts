import type { AlertAcknowledged, GraceElapsed } from '../../schemas/generated/scales.ts'
import { DUPLICATE, type Get, type Result } from '../../projections/projection.ts'
import { isoOf, msOf } from '../../projections/instant.ts'
import type { Key } from '../../projections/item.ts'
import type { AlertItem, DeviceItem, GraceItem, Settings, TapStateItem } from '../../projections/scales/items.ts'
import {
  activeAlerts,
  ALERT_TYPES,
  type AlertType,
  graces,
  isAlertEntity,
  locationSettings,
  pastAlerts,
  tapStates,
} from '../../projections/scales/keys.ts'
import { settingsOf } from '../../projections/scales/settings.ts'
import { startWork, type Work } from '../folding/work.ts'
import { ownedDevice } from './owned-devices.ts'
import { refuse } from '../../projections/scales/refusals.ts'

/** Identifies an alert: there is at most one per location, type and entity (S49). */
export interface Subject {
  readonly loc: string
  readonly type: AlertType
  /** `TAP#nn` or `DEVICE#id`. */
  readonly entity: string
}

export interface MeasuredValue extends Subject {
  readonly value: number
  readonly threshold: number
  /** The time at which the value was measured, in epoch milliseconds. */
  readonly at: number
  /** The time at which the server received the value. A device can send the values of a whole day at once. */
  readonly receivedAt: number
  readonly grace_secs: number
}

/** A fired alert ends when the value reaches the threshold plus this number of percentage points (S-n). */
const HYSTERESIS = 5
const DAY_SECONDS = 86_400

/**
 * Applies a value to its alert. Returns true if an alert is open afterwards. `wasOpen`: true if an alert was open
 * before. If no alert was open and the value is not below the threshold, reads no item.
 */
export const applyValue = (work: Work, measured: MeasuredValue, wasOpen: boolean): boolean => {
  const { value, threshold, at } = measured
  if (!wasOpen) return value < threshold && beginAlert(work, measured)
  const alert = work.get(activeAlerts.key(measured.loc, measured.type, measured.entity))
  const isPending = alert !== undefined && isPendingAt(alert, at)
  // An alert fires only while its value is below the threshold, so a pending alert ends when the value is back at the threshold.
  if (alert === undefined || value >= (isPending ? threshold : threshold + HYSTERESIS))
    return resolve(work, measured, at)
  if (isPending) applyBreach(work, measured, alert)
  return true
}

/**
 * True if the alert had not fired by the instant `at`. A timer fires an alert if no value arrives in time. If a value that was measured
 * before this firing arrives later, the value decides and not the timer: the alert counts as pending. After a person has acknowledged the
 * alert, the firing is final.
 */
const isPendingAt = ({ state, fired_at, _fire_at }: AlertItem, at: number): boolean =>
  state === 'pending' ||
  (state === 'active' && _fire_at !== undefined && fired_at !== undefined && at <= msOf(fired_at))

/**
 * Applies a value that is below the threshold. The alert fires if its grace period was over when the value was measured. Otherwise a
 * pending alert stores the value, because the fold of the timer event uses the newest value.
 */
const applyBreach = (work: Work, measured: MeasuredValue, alert: AlertItem): void => {
  const { value, at, receivedAt, grace_secs } = measured
  const { _fire_at: fireAt = at, ...known } = alert
  if (at >= fireAt) {
    retract(work, measured, alert)
    fire(work, measured, { ...known, value }, at)
  } else if (alert.state === 'pending') {
    // If the value is late, the device is sending its buffer. The next values can still arrive, so the timer is set again.
    if (receivedAt - at > grace_secs * 1000) arm(work, measured, { ...alert, value })
    else work.put({ ...alert, value } satisfies AlertItem)
  }
}

const beginAlert = (work: Work, measured: MeasuredValue): true => {
  const { loc, type, entity, value, threshold, at, grace_secs } = measured
  const started_at = isoOf(at)
  const fireAt = at + grace_secs * 1000
  const alert: AlertItem = {
    ...activeAlerts.key(loc, type, entity),
    type,
    entity,
    state: 'pending',
    value,
    threshold,
    started_at,
  }
  if (fireAt <= at) return fire(work, measured, alert, at)
  arm(work, measured, { ...alert, _fire_at: fireAt })
  work.put({
    ...graces.key(loc, entity, type),
    loc_id: loc,
    started_at,
    fire_at: isoOf(fireAt),
    ttl: Math.floor(fireAt / 1000) + DAY_SECONDS,
  } satisfies GraceItem)
  return true
}

/**
 * Stores the pending alert and sets its timer. The timer is due one grace period after the receipt of the value, so that the rest of the
 * device's buffer can arrive before.
 */
const arm = (work: Work, measured: MeasuredValue, pending: AlertItem): void => {
  const { loc, type, entity, receivedAt, grace_secs } = measured
  const due = receivedAt + grace_secs * 1000
  work.put({ ...pending, _due_at: due } satisfies AlertItem)
  work.arm({
    name: timerOf(measured),
    at: due,
    event: { type: 'GraceElapsed', key: loc, data: { type, entity, started_at: msOf(pending.started_at) } },
  })
}

/** Makes the alert active, ends its grace period and adds a history row (S50). Returns true: the alert is open. */
export const fire = (work: Work, subject: Subject, { _due_at, ...pending }: AlertItem, at: number): true => {
  const alert: AlertItem = { ...pending, state: 'active', fired_at: isoOf(at) }
  work.put(alert)
  endGrace(work, subject)
  recordTransition(work, subject, alert, at)
  return true
}

/**
 * Ends the alert, if there is one. An alert that had not fired by `at` leaves no history row. Any other alert gets a history row with the
 * time `at`, or right after its latest transition if that is later. Returns false: no alert is open afterwards.
 */
export const resolve = (work: Work, subject: Subject, at: number): false => {
  const { loc, type, entity } = subject
  const alert = work.get(activeAlerts.key(loc, type, entity))
  if (alert === undefined) return false
  work.remove(alert)
  if (isPendingAt(alert, at)) {
    retract(work, subject, alert)
    endGrace(work, subject)
  } else {
    const ends = endOf(alert, at)
    recordTransition(work, subject, { ...alert, state: 'resolved', resolved_at: isoOf(ends) }, ends)
  }
  return false
}

/** Removes the history row of a wrong firing: a late value shows that the alert did not fire at that time. A pending alert has no such row. */
const retract = (work: Work, subject: Subject, alert: AlertItem): void => {
  if (alert.fired_at !== undefined) work.remove(historyKey(subject, alert, msOf(alert.fired_at)))
}

/** The time at which a fired alert ends: `at`, or right after its latest transition if that is later. */
export const endOf = (alert: AlertItem, at: number): number =>
  Math.max(at, msOf(alert.acknowledged_at ?? alert.fired_at ?? alert.started_at) + 1)

const endGrace = (work: Work, subject: Subject): void => {
  work.remove(graces.key(subject.loc, subject.entity, subject.type))
  work.arm({ name: timerOf(subject), at: null })
}

/** Adds a row to the history of alerts. Its key contains the instant, the alert and the new state (S13, S51). */
const recordTransition = (work: Work, subject: Subject, { _fire_at, ...alert }: AlertItem, at: number): void =>
  work.put({ ...alert, ...historyKey(subject, alert, at) })

const historyKey = ({ loc, type, entity }: Subject, { state }: Pick<AlertItem, 'state'>, at: number): Key =>
  pastAlerts.key(loc, isoOf(at), `${type}#${entity}#${state}`)

const timerOf = ({ type, entity }: Subject): string => `grace:${type}:${entity}`

/**
 * Fires a pending alert when its timer is due, because no value has ended or fired it before (S-c). If the location has lowered the threshold
 * to the newest value or below, ends the alert instead. Ignores the event if its alert has ended or if a later value set the timer again.
 */
export const graceElapsed = ({ data, meta }: GraceElapsed, get: Get): Result => {
  const subject = subjectOf(meta.key, data)
  if (subject === undefined) return {}
  const alert = get(activeAlerts.key(subject.loc, subject.type, subject.entity))
  const work = startWork(get)
  if (alert?.state !== 'pending') work.arm({ name: timerOf(subject), at: null })
  else if (alert.started_at === isoOf(data.started_at) && meta.occurredAt >= (alert._due_at ?? 0)) {
    const limit = limitOf(settingsOf(get(locationSettings.key(meta.key))), subject.type)
    if ((alert.value ?? 0) < limit) fire(work, subject, alert, meta.occurredAt)
    else endUnfired(work, subject, meta.occurredAt)
  }
  return work.result()
}

/** Ends a pending alert, and removes the flag of the open alert from its tap or device. */
const endUnfired = (work: Work, subject: Subject, at: number): void => {
  resolve(work, subject, at)
  const { loc, type, entity } = subject
  const id = entity.slice(entity.indexOf('#') + 1)
  const flagged = type === 'low_keg' ? work.get(tapStates.key(loc, id)) : ownedDevice(work, loc, id)?.item
  if (flagged === undefined) return
  const { _low, _low_battery, ...rest } = flagged as TapStateItem & DeviceItem
  work.put(rest)
}

const limitOf = ({ low_keg_pct, low_battery_pct }: Settings, type: AlertType): number =>
  type === 'low_keg' ? low_keg_pct : low_battery_pct

/**
 * Acknowledges a fired alert. An acknowledgement that is older than the firing refers to an earlier alert and is
 * refused.
 */
export const alertAcknowledged = ({ data, meta }: AlertAcknowledged, get: Get): Result => {
  const subject = subjectOf(meta.key, data)
  const alert = subject && get(activeAlerts.key(subject.loc, subject.type, subject.entity))
  if (subject === undefined || alert?.fired_at === undefined || isoOf(meta.occurredAt) < alert.fired_at) {
    return refuse('alert-not-found', `There is no active alert ${data.type} of ${data.entity}.`)
  }
  if (alert.state === 'acknowledged') return DUPLICATE
  const work = startWork(get)
  const acknowledged: AlertItem = {
    ...alert,
    state: 'acknowledged',
    acknowledged_at: isoOf(meta.occurredAt),
    ...(meta.actorId !== null && { acknowledged_by: meta.actorId }),
  }
  work.put(acknowledged)
  recordTransition(work, subject, acknowledged, meta.occurredAt)
  return work.result()
}

const subjectOf = (
  loc: string,
  { type, entity }: { readonly type: string; readonly entity: string },
): Subject | undefined => {
  const known = ALERT_TYPES.find((alertType) => alertType === type)
  return known === undefined || !isAlertEntity(entity) ? undefined : { loc, type: known, entity }
}
