import { covers, type KegOnTap, type KegSpan, type TapAssignment, type Span } from '../../projections/scales/spans.ts'

/**
 * The kegs of a tap in the order of time, each with its span (from, to). A keg that was replaced at the instant at which
 * it was tapped keeps a span of length 0, so that a repetition of its event is recognised.
 */
export type Timeline = { readonly kegs: readonly KegSpan[] }

const MAX_KEGS = 40
const MAX_ASSIGNMENTS = 20

/**
 * Puts a keg on the tap. The previous keg ends. A keg whose event is late gets the time up to the next keg. A
 * repeated event changes nothing.
 */
export const withTappedKeg = (timeline: Timeline, keg: KegOnTap, at: number): Timeline => {
  const { kegs } = timeline
  if (kegs.some(({ keg_id, from }) => keg_id === keg.keg_id && from === at) || isForgotten(kegs, at)) return timeline
  return { kegs: inserted<KegSpan>(kegs, { ...keg, from: at }).slice(-MAX_KEGS) }
}

/** Takes a keg off the tap. */
export const withFinishedKeg = (timeline: Timeline, kegId: string, at: number): Timeline => {
  const isOnTap = (span: KegSpan): boolean => span.keg_id === kegId && covers(span, at)
  return timeline.kegs.some(isOnTap)
    ? { kegs: timeline.kegs.map((span) => (isOnTap(span) ? cut(span, at) : span)) }
    : timeline
}

export interface Correction {
  /** The keg that was recorded. */
  readonly keg_id: string
  readonly from: number
  readonly keg: KegOnTap
}

/** Replaces the recorded keg by another keg, from an instant on and until the recorded keg left the tap. */
export const withCorrectedKeg = (timeline: Timeline, { keg_id, from, keg }: Correction): Timeline => {
  const isWrong = (span: KegSpan): boolean =>
    span.keg_id === keg_id && keg.keg_id !== keg_id && endOf(span) > Math.max(from, span.from)
  if (!timeline.kegs.some(isWrong)) return timeline
  const right = (span: KegSpan): readonly KegSpan[] => {
    const since = Math.max(from, span.from)
    return [
      { ...span, to: since },
      { ...keg, from: since, to: span.to },
    ]
  }
  return { kegs: timeline.kegs.flatMap((span) => (isWrong(span) ? right(span) : [span])).slice(-MAX_KEGS) }
}

/**
 * Corrects two timelines so that the keg is never on both taps: its time on one tap ends when it was put on the other tap.
 * If it was put on both at the same instant, it stays on `here`, the tap of the newer event.
 */
export const separateTaps = (
  here: Timeline,
  other: Timeline,
  kegId: string,
): { readonly here: Timeline; readonly other: Timeline } => ({
  here: without(here, kegId, (span) => firstWithin(other, kegId, { ...span, from: span.from + 1 })),
  other: without(other, kegId, (span) => firstWithin(here, kegId, span)),
})

/** The instant within a span at which the keg was put on the tap. Undefined if it was not. */
const firstWithin = ({ kegs }: Timeline, kegId: string, span: Span): number | undefined =>
  kegs.find(({ keg_id, from, to }) => keg_id === kegId && from !== to && from >= span.from && from < endOf(span))?.from

const without = (timeline: Timeline, kegId: string, leaves: (span: KegSpan) => number | undefined): Timeline => {
  const kegs = timeline.kegs.map((span) => {
    const at = span.keg_id === kegId && span.from !== span.to ? leaves(span) : undefined
    return at === undefined ? span : cut(span, at)
  })
  return kegs.some((span, index) => span !== timeline.kegs[index]) ? { kegs } : timeline
}

/** The keg that was on the tap at an instant (S-i). Undefined if there was none. */
export const kegAt = ({ kegs }: Timeline, at: number): KegSpan | undefined => kegs.findLast((span) => covers(span, at))

/** The keg that is on the tap now. Undefined if there is none. */
export const kegNow = ({ kegs }: Timeline): KegSpan | undefined => {
  const last = kegs.at(-1)
  return last?.to === null ? last : undefined
}

/**
 * Assigns a device to a tap from an instant on, or to no tap (null). The last event in the log decides, even if it has an
 * earlier time: an assignment never begins before the previous assignment. Otherwise a tap could have two devices, or a
 * device could be assigned to a removed tap.
 */
export const withAssignment = (
  assignments: readonly TapAssignment[],
  tap: string | null,
  at: number,
): readonly TapAssignment[] => {
  const last = assignments.at(-1)
  if (last?.tap === tap) return assignments
  const from = Math.max(at, last?.from ?? at)
  const before = assignments
    .map((assignment) => cut(assignment, from))
    .filter((assignment) => assignment.from !== assignment.to)
  return [...before, { tap, from, to: null }].slice(-MAX_ASSIGNMENTS)
}

/** The tap to which the device was assigned at an instant. Null if there was none. */
export const tapAt = (assignments: readonly TapAssignment[], at: number): string | null =>
  assignments.findLast((assignment) => covers(assignment, at))?.tap ?? null

/** The tap to which the device is assigned now. Null if there is none. */
export const tapNow = (assignments: readonly TapAssignment[]): string | null => assignments.at(-1)?.tap ?? null

/** Inserts a span. The span that contains its start ends there. The new span lasts until the next span begins. */
const inserted = <S extends Span>(
  spans: readonly S[],
  { from, ...rest }: Omit<S, 'to'> & { readonly from: number },
): readonly S[] => {
  const before = spans.filter((span) => span.from <= from).map((span) => cut(span, from))
  const after = spans.filter((span) => span.from > from)
  return [...before, { ...rest, from, to: after[0]?.from ?? null } as S, ...after]
}

const endOf = ({ to }: Span): number => to ?? Infinity
const cut = <S extends Span>(span: S, at: number): S => (endOf(span) > at ? { ...span, to: at } : span)

/** True if the list is full, and the time is not after the start of its oldest span: older spans were dropped. */
const isForgotten = (spans: readonly Span[], at: number): boolean =>
  spans.length >= MAX_KEGS && at <= (spans[0]?.from ?? at)
