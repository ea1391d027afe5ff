/** When something held: from an instant on (epoch milliseconds), until another one or still. */
export type Span = { readonly from: number; readonly to: number | null }

export const covers = ({ from, to }: Span, at: number): boolean => from <= at && (to === null || at < to)

/** A keg on a tap, with what its weight is reckoned by. */
export type KegOnTap = {
  readonly keg_id: string
  readonly beer_id: string
  readonly keg_type: string
  readonly full_lbs: number
  readonly empty_lbs: number
  readonly sg: number
}

export type KegSpan = KegOnTap & Span

/** Under which tap a device stood; null is under none. */
export type Place = Span & { readonly tap: string | null }
