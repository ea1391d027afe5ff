import { isoOf, msOf } from '../../projections/instant.ts'
import type { KegItem, PourItem, TapItem, TapStateItem, TimelineItem } from '../../projections/scales/items.ts'
import {
  discrepancies,
  kegs,
  locationSettings,
  pours,
  taps,
  tapStates,
  timelines,
} from '../../projections/scales/keys.ts'
import { settingsOf } from '../../projections/scales/settings.ts'
import type { KegSpan } from '../../projections/scales/spans.ts'
import type { Work } from '../folding/work.ts'
import { resolve, applyValue } from './alerts.ts'
import { gallonsOf, isLevelMeasured, levelOf } from '../../projections/scales/gallons.ts'
import { ended, stopObserving, step, type Poured } from './pours.ts'
import { kegAt, kegNow, type Timeline } from './timeline.ts'

export interface TimelineUpdate {
  readonly loc: string
  readonly tap: string
  readonly at: number
  readonly before: Timeline
  readonly after: TimelineItem
  /** The time at which a correction was recorded. Absent if a keg was really swapped: then the tap needs a new tare. */
  readonly corrected_at?: number
}

/**
 * Stores the new timeline of a tap, and updates the items that depend on it: the kegs, the tap, and the state with the
 * keg of the newest reading. If the keg of this reading changes, ends the pour that is under way.
 */
export const updateTimeline = (work: Work, update: TimelineUpdate): void => {
  const { loc, tap, before, after } = update
  work.put(after)
  for (const span of lastSpans(after)) {
    const since = firstTappedAt(after, span)
    if (!before.kegs.includes(span) || since !== firstTappedAt(before, span))
      work.put(kegItem(work, { loc, tap, span, since }))
  }
  const config = work.get(taps.key(loc, tap))
  if (config !== undefined) work.put(withKeg(config, kegNow(after)))
  const swapped = kegNow(before)?.keg_id !== kegNow(after)?.keg_id
  const known =
    work.get(tapStates.key(loc, tap)) ?? (swapped && kegNow(after) !== undefined ? unreadTapState(loc, tap) : undefined)
  if (known === undefined) return
  const attributed = attribute(known, after)
  const settled =
    swapped || attributed.keg_id !== known.keg_id
      ? closePour(work, attributed, { ...update, keg_id: known.keg_id })
      : attributed
  const state = { ...settled, level_measured: isLevelMeasured(settled, kegNow(after)?.keg_id ?? null) }
  work.put(
    swapped
      ? update.corrected_at === undefined
        ? forNewKeg(work, state, update)
        : forCorrectedKeg(work, state, { ...update, at: update.corrected_at })
      : state,
  )
}

/** The state of a tap before its first reading. */
export const unreadTapState = (loc: string, tap: string): TapStateItem => ({
  ...tapStates.key(loc, tap),
  level_pct: null,
  gallons: null,
  weight_lbs: null,
  updated_at: null,
  tare_status: null,
  keg_id: null,
  pouring: false,
})

/** For each keg of the tap, the last range of time in which it was on the tap. */
const lastSpans = ({ kegs }: Timeline): readonly KegSpan[] =>
  kegs.filter((span, index) => !kegs.some((later, laterIndex) => laterIndex > index && later.keg_id === span.keg_id))

/** The instant at which a keg was first put on this tap. */
const firstTappedAt = ({ kegs }: Timeline, { keg_id, from: last }: KegSpan): number =>
  kegs.find((span) => span.keg_id === keg_id && span.from !== span.to)?.from ?? last

interface OnTap {
  readonly loc: string
  readonly tap: string
  readonly span: KegSpan
  readonly since: number
}

const kegItem = (work: Work, { loc, tap, span, since }: OnTap): KegItem => {
  const { keg_id, from, to, ...keg } = span
  const tapped_at = isoOf(since)
  const known = work.get(kegs.key(keg_id))
  const { finished_at, ...rest } = known ?? { ...kegs.key(keg_id), loc_id: loc, tap, tapped_at, ...keg }
  // A stored time that is earlier stays: the keg can have been on another tap before, or on this tap before its oldest stored keg.
  const item = rest.tapped_at > tapped_at ? { ...rest, tapped_at } : rest
  if (to === null) return { ...item, tap }
  // If the keg is on another tap now, the end of its time on this tap is not its end.
  return item.tap === tap
    ? { ...item, finished_at: isoOf(to) }
    : { ...item, ...(finished_at !== undefined && { finished_at }) }
}

const withKeg = (config: TapItem, keg: KegSpan | undefined): TapItem => ({
  ...config,
  beer_id: keg?.beer_id ?? null,
  keg_id: keg?.keg_id ?? null,
  keg_type: keg?.keg_type ?? null,
  full_lbs: keg?.full_lbs ?? null,
  empty_lbs: keg?.empty_lbs ?? null,
  sg: keg?.sg ?? null,
})

/** Attributes the newest reading to the keg that was on the tap when the reading was measured (S-i). */
const attribute = (state: TapStateItem, timeline: Timeline): TapStateItem => {
  const keg = state.updated_at === null ? undefined : kegAt(timeline, msOf(state.updated_at))
  const level_pct = state._weighed ? levelOf(state.weight_lbs, keg) : state.level_pct
  return {
    ...state,
    keg_id: keg?.keg_id ?? null,
    level_pct,
    gallons: keg === undefined ? null : gallonsOf({ weight_lbs: state.weight_lbs, ...keg }),
  }
}

/** Ends the pour that is under way. If the keg changes in the middle of a pour, the part so far belongs to the old keg. */
const closePour = (
  work: Work,
  { _pour, ...state }: TapStateItem,
  update: TimelineUpdate & { readonly keg_id: string | null },
): TapStateItem => {
  const settings = settingsOf(work.get(locationSettings.key(update.loc)))
  const { poured } = ended(_pour, settings)
  if (poured !== undefined)
    putPour(work, update, { ...update.before.kegs.findLast(({ keg_id }) => keg_id === update.keg_id), poured })
  const { gallons, updated_at } = state
  // If the newest reading is of the new keg, the next pour is counted from the level of this reading.
  const isOfNew = update.corrected_at !== undefined || state.keg_id !== update.keg_id
  if (!isOfNew || gallons === null || updated_at === null) return { ...state, pouring: false }
  return { ...state, pouring: false, _pour: step(undefined, { at: msOf(updated_at), gallons }, settings).detector }
}

/**
 * Ends the pour that is under way, because the scale stopped sending. `isGone`: the device was taken off the tap. Then
 * the detection starts again, because the next scale can weigh differently.
 */
export const endUnobservedPour = (
  work: Work,
  { loc, tap }: { readonly loc: string; readonly tap: string },
  isGone: boolean,
): void => {
  const known = work.get(tapStates.key(loc, tap))
  if (known?._pour === undefined) return
  const { _pour, ...state } = known
  const { detector, poured } = stopObserving(_pour, settingsOf(work.get(locationSettings.key(loc))))
  const keg = work.get(timelines.key(loc, tap))?.kegs.findLast(({ keg_id }) => keg_id === state.keg_id)
  if (poured !== undefined) putPour(work, { loc, tap }, { ...keg, poured })
  work.put({ ...state, pouring: false, ...(!isGone && { _pour: detector }) } satisfies TapStateItem)
}

export const putPour = (
  work: Work,
  { loc, tap }: { readonly loc: string; readonly tap: string },
  {
    keg_id = null,
    sg = 1,
    poured,
  }: Partial<Pick<KegSpan, 'sg'>> & { readonly keg_id?: string | null; readonly poured: Poured },
): void => {
  const start = isoOf(poured.start)
  work.put({
    ...pours.key(loc, start, tap),
    keg_id,
    tap,
    start,
    end: isoOf(poured.end),
    gallons: poured.gallons,
    sg,
  } satisfies PourItem)
}

/**
 * The state after a keg was swapped (S56). The tare of the new keg is pending. The low-keg alert and the discrepancy of
 * the previous keg end.
 */
const forNewKeg = (
  work: Work,
  { _low, _off, ...state }: TapStateItem,
  { loc, tap, at, after }: TimelineUpdate,
): TapStateItem => {
  if (_low) resolve(work, { loc, type: 'low_keg', entity: `TAP#${tap}` }, at)
  if (_off) work.remove(discrepancies.key(loc, tap))
  return { ...state, tare_status: kegNow(after) === undefined ? null : 'pending' }
}

/**
 * The state after a keg was corrected. The correction can change the level, so the low-keg alert is decided again at the time of the
 * correction. A level that was measured on another keg does not open the alert.
 */
const forCorrectedKeg = (
  work: Work,
  { _low, ...state }: TapStateItem,
  { loc, tap, at }: Pick<TimelineUpdate, 'loc' | 'tap' | 'at'>,
): TapStateItem => {
  const { low_keg_pct: threshold, grace_period_secs: grace_secs } = settingsOf(work.get(locationSettings.key(loc)))
  const subject = { loc, type: 'low_keg', entity: `TAP#${tap}` } as const
  const value = state.level_measured ? state.level_pct : null
  const isLow = value !== null && value < threshold
  if (_low && !isLow) resolve(work, subject, at)
  if (!_low && isLow) applyValue(work, { ...subject, value, threshold, at, receivedAt: at, grace_secs }, false)
  return isLow ? { ...state, _low: true } : state
}
