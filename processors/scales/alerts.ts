import type { AlertAcknowledged, GraceElapsed } from '../../schemas/generated/scales.ts'
import { DUPLICATE, type Get, type Result } from '../../projections/projection.ts'
import { isoOf, msOf } from '../../projections/instant.ts'
import type { Key } from '../../projections/item.ts'
import type { AlertItem, GraceItem } from '../../projections/scales/items.ts'
import { activeAlertKey, ALERT_TYPES, alertHistoryKey, graceKey, type AlertType } from '../../projections/scales/keys.ts'
import { startWork, type Work } from '../access/work.ts'
import { refuse } from './refusal.ts'

/** The one alert that there may be of a type and an entity (S49). */
export interface Subject {
  readonly loc: string
  readonly type: AlertType
  /** `TAP#nn` or `DEVICE#id`. */
  readonly entity: string
}

export interface Watched extends Subject {
  readonly value: number
  readonly threshold: number
  /** When the value was measured. */
  readonly at: number
  /** When the server received it: a device may send a whole day at once. */
  readonly heardAt: number
  readonly grace_secs: number
}

/** An alert that fired ends only above its threshold by this much (S-n). */
const HYSTERESIS = 5
const DAY_SECONDS = 86_400

/** Applies a value to its alert. Returns whether there is an alert now. If there was none (`alarmed`), a value within its threshold reads nothing. */
export const watch = (work: Work, watched: Watched, alarmed: boolean): boolean => {
  const { value, threshold, at } = watched
  if (!alarmed) return value < threshold && begin(work, watched)
  const alert = work.get<AlertItem>(activeAlertKey(watched.loc, watched.type, watched.entity))
  const isPending = alert?.state === 'pending'
  // An alert fires only at a value in breach, so a pending one ends at the threshold itself.
  if (alert === undefined || value >= (isPending ? threshold : threshold + HYSTERESIS)) return resolve(work, watched, at)
  if (isPending) hold(work, watched, alert)
  return true
}

/** A pending alert is still in breach: it fires if its grace is over by the time of the measurement. */
const hold = (work: Work, watched: Watched, alert: AlertItem): void => {
  const { value, at, heardAt, grace_secs } = watched
  const fireAt = alert._fire_at ?? at
  if (at >= fireAt) fire(work, watched, { ...alert, value }, at)
  // The rest of what the device stored may be on its way.
  else if (heardAt - at > grace_secs * 1000) arm(work, watched, { startedAt: msOf(alert.started_at), fireAt })
}

const begin = (work: Work, watched: Watched): true => {
  const { loc, type, entity, value, threshold, at, grace_secs } = watched
  const started_at = isoOf(at)
  const fireAt = at + grace_secs * 1000
  const alert: AlertItem = { ...activeAlertKey(loc, type, entity), type, entity, state: 'pending', value, threshold, started_at, _fire_at: fireAt }
  if (fireAt <= at) return fire(work, watched, alert, at)
  work.put(alert)
  work.put({ ...graceKey(loc, entity, type), loc_id: loc, started_at, fire_at: isoOf(fireAt), ttl: Math.floor(fireAt / 1000) + DAY_SECONDS } satisfies GraceItem)
  arm(work, watched, { startedAt: at, fireAt })
  return true
}

/** The timer is later than the end of the grace by as much as the value came late: until then the device may still send what came after it. */
const arm = (work: Work, watched: Watched, { startedAt, fireAt }: { readonly startedAt: number; readonly fireAt: number }): void => {
  const { loc, type, entity, at, heardAt } = watched
  work.arm({ name: timerOf(watched), at: fireAt + Math.max(0, heardAt - at), event: { type: 'GraceElapsed', key: loc, data: { type, entity, started_at: startedAt } } })
}

/** The alert fires and its grace ends (S50). */
export const fire = (work: Work, subject: Subject, pending: AlertItem, at: number): true => {
  const alert: AlertItem = { ...pending, state: 'active', fired_at: isoOf(at) }
  work.put(alert)
  endGrace(work, subject)
  recall(work, subject, alert, at)
  return true
}

/** Ends the alert, if there is one. A pending alert leaves no history. Returns whether there is an alert: false. */
export const resolve = (work: Work, subject: Subject, at: number): false => {
  const { loc, type, entity } = subject
  const alert = work.get<AlertItem>(activeAlertKey(loc, type, entity))
  if (alert === undefined) return false
  work.remove(alert)
  if (alert.state === 'pending') endGrace(work, subject)
  else if (alert.state === 'active' && alert._fire_at !== undefined && at <= firedOf(alert)) correctFiring(work, subject, { alert: { ...alert, _fire_at: alert._fire_at }, at })
  else {
    const ends = endOf(alert, at)
    recall(work, subject, { ...alert, state: 'resolved', resolved_at: isoOf(ends) }, ends)
  }
  return false
}

/**
 * The timer fired the alert, and a value that came late shows that the breach had ended by then. If it ended within its grace, the alert never
 * fired: its record is removed. Otherwise it fired when the grace was over.
 */
const correctFiring = (work: Work, subject: Subject, { alert, at }: { readonly alert: AlertItem & { readonly _fire_at: number }; readonly at: number }): void => {
  work.remove(historyKey(subject, alert, firedOf(alert)))
  if (at <= alert._fire_at) return
  const fired: AlertItem = { ...alert, fired_at: isoOf(alert._fire_at) }
  recall(work, subject, fired, alert._fire_at)
  recall(work, subject, { ...fired, state: 'resolved', resolved_at: isoOf(at) }, at)
}

const firedOf = ({ fired_at, started_at }: AlertItem): number => msOf(fired_at ?? started_at)

/** When an alert that fired ends: after everything that happened to it. */
export const endOf = (alert: AlertItem, at: number): number => Math.max(at, msOf(alert.acknowledged_at ?? alert.fired_at ?? alert.started_at) + 1)

const endGrace = (work: Work, subject: Subject): void => {
  work.remove(graceKey(subject.loc, subject.entity, subject.type))
  work.arm({ name: timerOf(subject), at: null })
}

/** Append-only (S13, S51): a transition has its instant and its name. */
const recall = (work: Work, subject: Subject, alert: AlertItem, at: number): void => work.put({ ...alert, ...historyKey(subject, alert, at) })

const historyKey = ({ loc, type, entity }: Subject, { state }: AlertItem, at: number): Key => alertHistoryKey(loc, isoOf(at), `${type}#${entity}#${state}`)

const timerOf = ({ type, entity }: Subject): string => `grace:${type}:${entity}`

/** For a scale that has gone silent, too (S-c). One that was overtaken by a recovery fires nothing. */
export const graceElapsed = ({ data, meta }: GraceElapsed, get: Get): Result => {
  const subject = subjectOf(meta.key, data)
  if (subject === undefined) return {}
  const alert = get<AlertItem>(activeAlertKey(subject.loc, subject.type, subject.entity))
  const work = startWork(get)
  if (alert?.state !== 'pending') work.arm({ name: timerOf(subject), at: null })
  else if (alert.started_at === isoOf(data.started_at)) fire(work, subject, alert, meta.occurredAt)
  return work.result()
}

/** What was said before the alert fired was said of another. */
export const alertAcknowledged = ({ data, meta }: AlertAcknowledged, get: Get): Result => {
  const subject = subjectOf(meta.key, data)
  const alert = subject && get<AlertItem>(activeAlertKey(subject.loc, subject.type, subject.entity))
  if (subject === undefined || alert?.fired_at === undefined || isoOf(meta.occurredAt) < alert.fired_at) {
    return refuse('alert-not-found', `There is no active alert ${data.type} of ${data.entity}.`)
  }
  if (alert.state === 'acknowledged') return DUPLICATE
  const work = startWork(get)
  const seen: AlertItem = {
    ...alert, state: 'acknowledged', acknowledged_at: isoOf(meta.occurredAt), ...(meta.actorId !== null && { acknowledged_by: meta.actorId }),
  }
  work.put(seen)
  recall(work, subject, seen, meta.occurredAt)
  return work.result()
}

const subjectOf = (loc: string, { type, entity }: { readonly type: string; readonly entity: string }): Subject | undefined => {
  const known = ALERT_TYPES.find((one) => one === type)
  return known === undefined || !/^(TAP#\d\d|DEVICE#[A-Za-z0-9_.:-]{1,64})$/.test(entity) ? undefined : { loc, type: known, entity }
}
