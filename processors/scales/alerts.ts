import type { AlertAcknowledged, GraceElapsed } from '../../schemas/generated/scales.ts'
import { DUPLICATE, type Get, type Result } from '../../projections/projection.ts'
import { isoOf, msOf } from '../../projections/instant.ts'
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
  readonly at: number
  readonly grace_secs: number
}

/** An alert that began ends only above its threshold by this much (S-n). */
const HYSTERESIS = 5
const DAY_SECONDS = 86_400

/** What a value does to its alert; whether there is one now. `alarmed` tells whether there was, so that a plain value reads nothing. */
export const watch = (work: Work, watched: Watched, alarmed: boolean): boolean => {
  const { value, threshold, at } = watched
  if (!alarmed) return value < threshold && begin(work, watched)
  const alert = work.get<AlertItem>(activeAlertKey(watched.loc, watched.type, watched.entity))
  if (alert === undefined || value >= threshold + HYSTERESIS) return resolve(work, watched, at)
  if (alert.state === 'pending' && isDue(work, watched, at)) fire(work, watched, { ...alert, value }, at)
  return true
}

const begin = (work: Work, watched: Watched): true => {
  const { loc, type, entity, value, threshold, at, grace_secs } = watched
  const started_at = isoOf(at)
  const alert: AlertItem = { ...activeAlertKey(loc, type, entity), type, entity, state: 'pending', value, threshold, started_at }
  const fireAt = at + grace_secs * 1000
  if (fireAt <= at) return fire(work, watched, alert, at)
  work.put(alert)
  work.put({ ...graceKey(loc, entity, type), loc_id: loc, started_at, fire_at: isoOf(fireAt), ttl: Math.floor(fireAt / 1000) + DAY_SECONDS } satisfies GraceItem)
  work.arm({ name: timerOf(watched), at: fireAt, event: { type: 'GraceElapsed', key: loc, data: { type, entity, started_at: at } } })
  return true
}

/** A row that has been cleared away was due long ago. */
const isDue = (work: Work, { loc, type, entity }: Subject, at: number): boolean => {
  const grace = work.get<GraceItem>(graceKey(loc, entity, type))
  return grace === undefined || at >= msOf(grace.fire_at)
}

/** The alert stands, and its grace is over (S50). */
export const fire = (work: Work, subject: Subject, pending: AlertItem, at: number): true => {
  const alert: AlertItem = { ...pending, state: 'active', fired_at: isoOf(at) }
  work.put(alert)
  endGrace(work, subject)
  recall(work, subject, alert, at)
  return true
}

/** What nobody was told of goes silently; what fired ends no earlier, whenever it was said. Whether there is an alert: none. */
export const resolve = (work: Work, subject: Subject, at: number): false => {
  const { loc, type, entity } = subject
  const alert = work.get<AlertItem>(activeAlertKey(loc, type, entity))
  if (alert === undefined) return false
  work.remove(alert)
  if (alert.state === 'pending') endGrace(work, subject)
  else {
    const ends = endOf(alert, at)
    recall(work, subject, { ...alert, state: 'resolved', resolved_at: isoOf(ends) }, ends)
  }
  return false
}

/** A scale that comes back with its buffer tells first of what was long before. */
export const endOf = ({ fired_at }: AlertItem, at: number): number => (fired_at === undefined ? at : Math.max(at, msOf(fired_at)))

const endGrace = (work: Work, subject: Subject): void => {
  work.remove(graceKey(subject.loc, subject.entity, subject.type))
  work.arm({ name: timerOf(subject), at: null })
}

/** Append-only (S13, S51): a transition has its instant and its name. */
const recall = (work: Work, { loc, type, entity }: Subject, alert: AlertItem, at: number): void =>
  work.put({ ...alert, ...alertHistoryKey(loc, isoOf(at), `${type}#${entity}#${alert.state}`) })

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
