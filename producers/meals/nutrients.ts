import { MAX_EXTENDED, toMilli } from '../../projections/meals/nutrients.ts'
import type { NutrientAmount } from '../../schemas/generated/meals.ts'
import { mistake } from '../http/problem.ts'

/** An amount in a body. `milli` also checks that it has at most three decimals. */
export const amountSchema = { type: 'number', minimum: 0, maximum: 1_000_000 } as const

export const nutrientName = '^[A-Za-z][A-Za-z0-9_-]{0,39}$'

export const extendedSchema = {
  type: 'object',
  maxProperties: MAX_EXTENDED,
  propertyNames: { pattern: nutrientName },
  additionalProperties: amountSchema,
} as const

export const snapshotSchema = {
  type: 'object',
  description:
    'The nutrient registry that the client used. Nutrients that it does not contain are stored as dropped, and do not count.',
  additionalProperties: false,
  required: ['version', 'nutrients'],
  properties: {
    version: { type: 'integer', minimum: 0, maximum: 1e15 },
    nutrients: { type: 'array', maxItems: 512, uniqueItems: true, items: { type: 'string', pattern: nutrientName } },
  },
} as const

/** Converts an amount to integer thousandths. Throws `too-many-decimals` instead of rounding. */
export const milli = (amount: number, pointer: string): number => {
  const exact = toMilli(amount)
  if (exact !== undefined) return exact
  throw mistake(400, {
    pointer,
    code: 'too-many-decimals',
    detail: `${pointer} must have at most three decimals. Round it.`,
  })
}

export interface Snapshot {
  readonly version: number
  readonly nutrients: readonly string[]
}

export interface Filtered {
  readonly extended: readonly NutrientAmount[]
  readonly dropped: readonly NutrientAmount[]
  readonly registryVersion: number | null
}

/**
 * Separates known nutrients from unknown nutrients. The registry is the user's list of known nutrients, and a request can contain a copy of it
 * (snapshot). Nutrients that are not in the snapshot are stored as dropped: no sum contains them (M24, M-i). Without a snapshot, the fold
 * separates the nutrients by the current registry.
 */
export const filtered = (
  amounts: Readonly<Record<string, number>> | undefined,
  snapshot: Snapshot | undefined,
): Filtered => {
  const all = Object.entries(amounts ?? NONE).map(([name, amount]) => ({
    name,
    amount: milli(amount, `/extendedNutrients/${name}`),
  }))
  if (!snapshot) return { extended: all, dropped: [], registryVersion: null }
  const known = new Set(snapshot.nutrients)
  return {
    extended: all.filter(({ name }) => known.has(name)),
    dropped: all.filter(({ name }) => !known.has(name)),
    registryVersion: snapshot.version,
  }
}

const NONE: Readonly<Record<string, number>> = {}
