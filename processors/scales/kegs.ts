import type { KegAssignmentCorrected, KegFinished, KegTapped, PourVoided } from '../../schemas/generated/scales.ts'
import { NOTHING, type Get, type Result } from '../../projections/projection.ts'
import type { KegItem, Void } from '../../projections/scales/items.ts'
import { isId, isTap, kegs, timelines } from '../../projections/scales/keys.ts'
import type { KegOnTap, Span } from '../../projections/scales/spans.ts'
import { hasApplied, withApplied } from '../folding/applied-events.ts'
import { startWork, type Work } from '../folding/work.ts'
import { areWeights, isGravity, isTime } from './fit.ts'
import { updateTimeline } from './timeline-update.ts'
import { openTap } from './taps.ts'
import { separateTaps, withCorrectedKeg, withFinishedKeg, withTappedKeg, type Timeline } from './timeline.ts'

/** Puts a keg on a tap. The time of the tap's previous keg ends. If the keg was on another tap, its time there ends, too. */
export const kegTapped = ({ data, meta }: KegTapped, get: Get): Result => {
  const { tap, tapped_at, ...keg } = data
  const loc = meta.key
  if (!isTap(tap) || !isTime(tapped_at) || !isTime(meta.occurredAt) || !isKeg(keg)) return NOTHING
  const known = get(kegs.key(keg.keg_id))
  if (known !== undefined && known.loc_id !== loc) return NOTHING
  const work = startWork(get)
  const before = openTap(work, { loc, tap, at: meta.occurredAt })
  const after = withTappedKeg(before, keg, tapped_at)
  if (after === before) return NOTHING
  const here = known === undefined ? after : moveKeg(work, known, { loc, tap, keg: keg.keg_id, at: tapped_at }, after)
  updateTimeline(work, { loc, tap, at: tapped_at, before, after: { ...before, ...here } })
  return work.result()
}

/** Takes the keg off its previous tap, because a keg can be on one tap only. Returns the timeline of the new tap. */
const moveKeg = (work: Work, known: KegItem, { loc, tap, keg, at }: OnTap, here: Timeline): Timeline => {
  const before = known.tap === tap ? undefined : work.get(timelines.key(loc, known.tap))
  if (before === undefined) return here
  const separated = separateTaps(here, before, keg)
  if (separated.other !== before)
    updateTimeline(work, { loc, tap: known.tap, at, before, after: { ...before, ...separated.other } })
  return separated.here
}

const isKeg = (keg: KegOnTap): boolean =>
  isId(keg.keg_id) && isId(keg.beer_id) && isType(keg.keg_type) && areWeights(keg) && isGravity(keg.sg)

export const isType = (type: string): boolean => /^[a-z0-9][a-z0-9_-]{0,39}$/.test(type)

interface OnTap {
  readonly loc: string
  readonly tap: string
  readonly keg: string
  readonly at: number
}

const takeOff = (work: Work, { loc, tap, keg, at }: OnTap): void => {
  const before = work.get(timelines.key(loc, tap))
  if (before === undefined) return
  const after = withFinishedKeg(before, keg, at)
  if (after !== before) updateTimeline(work, { loc, tap, at, before, after: { ...before, ...after } })
}

export const kegFinished = ({ data, meta }: KegFinished, get: Get): Result => {
  if (!isTap(data.tap) || !isTime(data.at)) return NOTHING
  const work = startWork(get)
  takeOff(work, { loc: meta.key, tap: data.tap, keg: data.keg_id, at: data.at })
  return work.result()
}

/** Corrects which keg was on a tap: from an instant on, the time of the recorded keg belongs to another keg (S-m). */
export const kegAssignmentCorrected = (event: KegAssignmentCorrected, get: Get): Result => {
  const {
    data: { tap, keg_id, from, new_keg_id, ...rest },
    meta,
  } = event
  const keg: KegOnTap = { keg_id: new_keg_id, ...rest }
  const before =
    isTap(tap) && isTime(from) && isTime(meta.occurredAt) && isKeg(keg) ? get(timelines.key(meta.key, tap)) : undefined
  const known = before && get(kegs.key(new_keg_id))
  if (before === undefined || hasApplied(before._heard, event) || (known !== undefined && known.loc_id !== meta.key))
    return NOTHING
  const after = withCorrectedKeg(before, { keg_id, from, keg })
  if (after === before) return NOTHING
  const work = startWork(get)
  const here =
    known === undefined ? after : moveKeg(work, known, { loc: meta.key, tap, keg: new_keg_id, at: from }, after)
  updateTimeline(work, {
    loc: meta.key,
    tap,
    at: from,
    before,
    after: { ...before, ...here, _heard: withApplied(before._heard, event) },
    corrected_at: meta.occurredAt,
  })
  const wrong = work.get(kegs.key(keg_id))
  const isWholly = !after.kegs.some((span) => span.keg_id === keg_id && span.from !== span.to)
  if (wrong !== undefined && isWholly) work.put({ ...wrong, corrected_to: new_keg_id } satisfies KegItem)
  const right = work.get(kegs.key(new_keg_id))
  if (wrong?.voids !== undefined && right !== undefined) {
    const moved = before.kegs
      .filter((span) => span.keg_id === keg_id)
      .flatMap((span) => within(wrong.voids ?? [], { from: Math.max(from, span.from), to: span.to }))
    putVoids(work, right, moved)
  }
  return work.result()
}

const MAX_VOIDS = 64

/**
 * Returns the parts of the voids that are within the span. A void is a time whose pours a person cancelled. After a correction,
 * these parts are copied to the right keg, so that its pours stay cancelled.
 */
const within = (voids: readonly Void[], { from, to }: Span): readonly Void[] =>
  voids
    .map((each) => ({ ...each, from: Math.max(each.from, from), to: Math.min(each.to, to ?? Infinity) }))
    .filter((each) => each.from <= each.to)

/** Adds voids (times whose pours a person cancelled) to a keg. Leaves out a void that lies within a stored void. */
const putVoids = (work: Work, keg: KegItem, added: readonly Void[]): void => {
  const known = keg.voids ?? []
  const voids = added.reduce(
    (voids, each) =>
      voids.some(({ from, to }) => from <= each.from && to >= each.to) ? voids : [...voids.slice(1 - MAX_VOIDS), each],
    known,
  )
  if (voids !== known) work.put({ ...keg, voids } satisfies KegItem)
}

/** Cancels the pours of a keg in a range of time. Only the range is stored, so it also cancels pours that a later fold version detects. */
export const pourVoided = ({ data, meta }: PourVoided, get: Get): Result => {
  const keg = isId(data.keg_id) && isTime(data.from) && isTime(data.to) ? get(kegs.key(data.keg_id)) : undefined
  if (keg === undefined || keg.loc_id !== meta.key || data.from > data.to) return NOTHING
  const work = startWork(get)
  putVoids(work, keg, [{ from: data.from, to: data.to, reason: data.reason }])
  return work.result()
}
