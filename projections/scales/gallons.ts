const KG_PER_LB = 0.45359237
const GALLONS_PER_KG_OF_WATER = 0.264172

export interface Weighed {
  readonly weight_lbs: number | null
  /** Null if there is no keg. */
  readonly empty_lbs: number | null
  readonly sg: number | null
}

/**
 * The gallons of beer in a keg, from its weight in pounds and the beer's specific gravity (`sg`). Null if a value is
 * missing. Not limited: on a scale that is not exact, the result can be below 0 or above the volume of the keg.
 */
export const gallonsOf = ({ weight_lbs, empty_lbs, sg }: Weighed): number | null => {
  if (weight_lbs === null || empty_lbs === null || sg === null || !(sg > 0)) return null
  const gallons = (((weight_lbs - empty_lbs) * KG_PER_LB) / sg) * GALLONS_PER_KG_OF_WATER
  return Number.isFinite(gallons) ? gallons : null
}

/** True if the level of a tap's state was measured on the keg that is on the tap now. False without a keg. */
export const isLevelMeasured = (
  { level_pct, keg_id }: { readonly level_pct: number | null; readonly keg_id: string | null },
  kegNow: string | null,
): boolean => level_pct !== null && keg_id !== null && keg_id === kegNow

/** The level of a keg in percent, from its weight. Null without a weight or a keg, or if the keg weighs the same full and empty. */
export const levelOf = (
  weight_lbs: number | null,
  keg: { readonly full_lbs: number; readonly empty_lbs: number } | undefined,
): number | null => {
  if (weight_lbs === null || keg === undefined) return null
  const level = ((weight_lbs - keg.empty_lbs) / (keg.full_lbs - keg.empty_lbs)) * 100
  return Number.isFinite(level) ? level : null
}
