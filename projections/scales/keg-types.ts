export interface KegWeights {
  readonly gallons: number
  readonly full_lbs: number
  readonly empty_lbs: number
}

/** Reference weights of each type of keg (S48). They apply to a beer until a person sets its weights or one of its kegs is weighed. */
export const KEG_TYPES: Readonly<Record<string, KegWeights>> = {
  half_barrel: { gallons: 15.5, full_lbs: 161.5, empty_lbs: 29 },
  quarter_barrel: { gallons: 7.75, full_lbs: 87, empty_lbs: 22 },
  sixth_barrel: { gallons: 5.17, full_lbs: 61, empty_lbs: 16.5 },
  slim_quarter: { gallons: 7.75, full_lbs: 87, empty_lbs: 20 },
}

/** Every new beer gets the weights of this type of keg. */
export const SEEDED_TYPE = 'half_barrel'

export const referenceWeights = (type: string): KegWeights | undefined =>
  Object.hasOwn(KEG_TYPES, type) ? KEG_TYPES[type] : undefined

/** The specific gravity of water: the default for beers. */
export const DEFAULT_GRAVITY = 1
