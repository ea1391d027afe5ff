import { covers, type KegOnTap, type KegSpan, type Place, type Span } from '../../projections/scales/spans.ts'

/** The kegs a tap had, in the order of time. One that was replaced in the instant it came keeps a span of no length: it was heard of. */
export type Timeline = { readonly kegs: readonly KegSpan[] }

const KEPT_KEGS = 40
const KEPT_PLACES = 20

/** A keg comes to the tap; what was on it ends there. One that is told late lies between its neighbours. Told again, it changes nothing. */
export const tapped = (timeline: Timeline, keg: KegOnTap, at: number): Timeline => {
  const { kegs } = timeline
  if (kegs.some(({ keg_id, from }) => keg_id === keg.keg_id && from === at) || isForgotten(kegs, at)) return timeline
  return { kegs: inserted<KegSpan>(kegs, { ...keg, from: at }).slice(-KEPT_KEGS) }
}

/** A keg is taken off. */
export const finished = (timeline: Timeline, kegId: string, at: number): Timeline => {
  const holds = (span: KegSpan): boolean => span.keg_id === kegId && covers(span, at)
  return timeline.kegs.some(holds) ? { kegs: timeline.kegs.map((span) => (holds(span) ? cut(span, at) : span)) } : timeline
}

export interface Correction {
  /** The one that was said. */
  readonly keg_id: string
  readonly from: number
  readonly keg: KegOnTap
}

/** From an instant on it was another keg than was said, for as long as the one that was said was there. */
export const corrected = (timeline: Timeline, { keg_id, from, keg }: Correction): Timeline => {
  const isWrong = (span: KegSpan): boolean => span.keg_id === keg_id && keg.keg_id !== keg_id && endOf(span) > Math.max(from, span.from)
  if (!timeline.kegs.some(isWrong)) return timeline
  const right = (span: KegSpan): readonly KegSpan[] => {
    const since = Math.max(from, span.from)
    return [{ ...span, to: since }, { ...keg, from: since, to: span.to }]
  }
  return { kegs: timeline.kegs.flatMap((span) => (isWrong(span) ? right(span) : [span])).slice(-KEPT_KEGS) }
}

/** A keg has one tap: where it was on both at once, it left the one when it came to the other. Here is what was said last: of two that begin alike, it holds. */
export const apart = (here: Timeline, other: Timeline, kegId: string): { readonly here: Timeline; readonly other: Timeline } => ({
  here: without(here, kegId, (span) => firstWithin(other, kegId, { ...span, from: span.from + 1 })),
  other: without(other, kegId, (span) => firstWithin(here, kegId, span)),
})

/** When the keg came, in the time of a span. */
const firstWithin = ({ kegs }: Timeline, kegId: string, span: Span): number | undefined =>
  kegs.find(({ keg_id, from, to }) => keg_id === kegId && from !== to && from >= span.from && from < endOf(span))?.from

const without = (timeline: Timeline, kegId: string, leaves: (span: KegSpan) => number | undefined): Timeline => {
  const kegs = timeline.kegs.map((span) => {
    const at = span.keg_id === kegId && span.from !== span.to ? leaves(span) : undefined
    return at === undefined ? span : cut(span, at)
  })
  return kegs.some((span, index) => span !== timeline.kegs[index]) ? { kegs } : timeline
}

/** The keg that was on the tap at an instant (S-i). */
export const kegAt = ({ kegs }: Timeline, at: number): KegSpan | undefined => kegs.findLast((span) => covers(span, at))

/** The keg that is on the tap for all that is known. */
export const kegNow = ({ kegs }: Timeline): KegSpan | undefined => {
  const last = kegs.at(-1)
  return last?.to === null ? last : undefined
}

/**
 * A device stands under a tap from an instant on, or (null) under none. The last word holds, whatever its clock: it is never before what was
 * said until then. Otherwise a tap would have two devices, or a device stand under a tap that is gone.
 */
export const placed = (places: readonly Place[], tap: string | null, at: number): readonly Place[] => {
  const last = places.at(-1)
  if (last?.tap === tap) return places
  const from = Math.max(at, last?.from ?? at)
  const before = places.map((place) => cut(place, from)).filter((place) => place.from !== place.to)
  return [...before, { tap, from, to: null }].slice(-KEPT_PLACES)
}

/** The tap under which the device stood at an instant. */
export const tapAt = (places: readonly Place[], at: number): string | null => places.findLast((place) => covers(place, at))?.tap ?? null

/** The tap under which it stands for all that is known. */
export const tapNow = (places: readonly Place[]): string | null => places.at(-1)?.tap ?? null

/** It ends what held then, and holds until what comes next. */
const inserted = <S extends Span>(spans: readonly S[], { from, ...rest }: Omit<S, 'to'> & { readonly from: number }): readonly S[] => {
  const before = spans.filter((span) => span.from <= from).map((span) => cut(span, from))
  const after = spans.filter((span) => span.from > from)
  return [...before, { ...rest, from, to: after[0]?.from ?? null } as S, ...after]
}

const endOf = ({ to }: Span): number => to ?? Infinity
const cut = <S extends Span>(span: S, at: number): S => (endOf(span) > at ? { ...span, to: at } : span)

/** True if the time is before the oldest kept span: older spans were dropped. */
const isForgotten = (spans: readonly Span[], at: number): boolean => spans.length >= KEPT_KEGS && at <= (spans[0]?.from ?? at)
