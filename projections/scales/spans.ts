/** A span of time in epoch milliseconds, from an instant until another one. Null: it has not ended. */
export type Span = { readonly from: number; readonly to: number | null }

export const covers = ({ from, to }: Span, at: number): boolean => from <= at && (to === null || at < to)

/** A keg with the weights and the gravity by which its level is computed. */
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
 * The keg that was on the tap from one instant to another. Undefined if there was none, or if the keg changed between the two: then the difference
 * of two levels is that of two kegs, and no beer of either.
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

/** A device's assignment to a tap. Null: to none. */
export type TapAssignment = Span & { readonly tap: string | null }
