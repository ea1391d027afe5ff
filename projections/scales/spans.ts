/** A span of time in epoch milliseconds. `from` is inclusive, `to` is exclusive. `to` is null if the span has not ended. */
export type Span = { readonly from: number; readonly to: number | null }

export const covers = ({ from, to }: Span, at: number): boolean => from <= at && (to === null || at < to)

/** A keg with the weights and the specific gravity (`sg`) from which its level and gallons are computed. */
export type KegOnTap = {
  readonly keg_id: string
  readonly beer_id: string
  readonly keg_type: string
  readonly full_lbs: number
  readonly empty_lbs: number
  readonly sg: number
}

export type KegSpan = KegOnTap & Span

/**
 * The keg that was on the tap from one instant to another. Undefined if there was no keg, or if the keg changed between the two instants:
 * then the difference between two levels is the difference between two kegs, and not beer that left a keg.
 */
export const kegThroughout = (
  kegs: readonly KegSpan[],
  { from, to }: { readonly from: number; readonly to: number },
): KegSpan | undefined => {
  const keg = kegs.findLast((span) => covers(span, from))
  const last = kegs.findLast((span) => covers(span, Math.max(from, to - 1)))
  const isOther = (span: KegSpan): boolean =>
    span.keg_id !== keg?.keg_id && span.from !== span.to && span.from > from && span.from < to
  return last?.keg_id === keg?.keg_id && !kegs.some(isOther) ? keg : undefined
}

/** A device's assignment to a tap. `tap` is null while the device is assigned to no tap. */
export type TapAssignment = Span & { readonly tap: string | null }
