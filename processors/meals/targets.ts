import type { NutrientRegistryChanged, TargetsChanged } from '../../schemas/generated/meals.ts'
import { bare, type Draft } from '../../projections/item.ts'
import { DUPLICATE, type Get, type Result } from '../../projections/projection.ts'
import { isDay } from '../../projections/meals/day.ts'
import { dateOf, dayNumberOf, isoOf, utcDateOf } from '../../projections/instant.ts'
import {
  MACROS,
  type NutrientDefinition,
  type NutrientRegistry,
  type TargetsAsOfItem,
  type TargetsItem,
} from '../../projections/meals/items.ts'
import { dayTargets, targets } from '../../projections/meals/keys.ts'
import { fromMilli, isAmount, isNutrientName, MAX_REGISTRY } from '../../projections/meals/nutrients.ts'
import { hasApplied, withApplied } from '../folding/applied-events.ts'
import { isImported, isRepeatedImport, importedEventItems } from './imported-events.ts'
import { refuse } from '../../projections/meals/refusals.ts'

type Change = TargetsChanged | NutrientRegistryChanged

/** Changes the targets. A target that is null stays as it is. 0 disables a target. */
export const targetsChanged = (event: TargetsChanged, get: Get): Result => {
  const { data, meta } = event
  const before = get(targets.key(meta.key))
  const rejected = duplicateOrConflict(before, event, get)
  if (rejected !== undefined) return rejected
  if (!isDay(data.effectiveFromDate) || data.effectiveFromDate > dayAfter(utcDateOf(meta.occurredAt))) {
    return refuse('effective-date-out-of-range', 'The first day of targets cannot be later than tomorrow.')
  }
  const after = nextTargets(before, event, data.effectiveFromDate)
  for (const macro of MACROS) {
    const amount = data[macro]
    if (amount === null) continue
    if (!isAmount(amount)) return refuse('nutrient-out-of-range', `A target of ${macro} is from 0 to 10,000,000.`)
    after[macro] = fromMilli(amount)
  }
  if (data.displayUnit !== null) after.displayUnit = data.displayUnit
  return storeTargets(event, after)
}

export const nutrientRegistryChanged = (event: NutrientRegistryChanged, get: Get): Result => {
  const { data, meta } = event
  const before = get(targets.key(meta.key))
  const rejected = duplicateOrConflict(before, event, get) ?? wrongDefinition(before?.nutrientRegistry ?? {}, event)
  if (rejected !== undefined) return rejected
  const after = nextTargets(before, event, utcDateOf(meta.occurredAt))
  const { [data.name]: defined, ...others } = after.nutrientRegistry
  const present = Object.hasOwn(after.nutrientRegistry, data.name) ? defined : undefined
  after.nutrientRegistry = data.removed ? others : { ...others, [data.name]: redefined(present, data) }
  return storeTargets(event, after)
}

const wrongDefinition = (
  registry: NutrientRegistry,
  { data: { name, goal, removed } }: NutrientRegistryChanged,
): Result | undefined => {
  if (removed)
    return Object.hasOwn(registry, name)
      ? undefined
      : refuse('nutrient-not-found', `The registry has no nutrient ${name}.`)
  if (!isNutrientName(name)) return refuse('nutrient-name-invalid', 'A nutrient has a name of 1 to 64 characters.')
  if (goal !== null && !isAmount(goal))
    return refuse('nutrient-out-of-range', `The goal of ${name} is from 0 to 10,000,000.`)
  if (Object.hasOwn(registry, name) || Object.keys(registry).length < MAX_REGISTRY) return undefined
  return refuse('too-many-nutrients', `The registry has at most ${MAX_REGISTRY} nutrients; remove one first.`)
}

const redefined = (
  defined: NutrientDefinition = {},
  { unit, goal }: NutrientRegistryChanged['data'],
): NutrientDefinition => ({
  ...defined,
  ...(unit !== null && { unit }),
  ...(goal !== null && { goal: fromMilli(goal) }),
})

const duplicateOrConflict = (targets: TargetsItem | undefined, event: Change, get: Get): Result | undefined => {
  const { expectedVersion } = event.data
  if (isRepeatedImport(event, get) || hasApplied(targets?._heard, event)) return DUPLICATE
  const version = targets?.version ?? 0
  if (expectedVersion === null || expectedVersion === version) return undefined
  return refuse(
    'targets-version-conflict',
    `The targets are at version ${version}, not ${expectedVersion}; read them and change them again.`,
  )
}

/**
 * Returns the changed targets with the next version number. Their first day is never earlier than the first day of the
 * previous targets, so a change does not alter past days.
 */
const nextTargets = (before: TargetsItem | undefined, event: Change, from: string): Draft<TargetsItem> => {
  const { key, occurredAt } = event.meta
  return {
    ...targets.key(key),
    displayUnit: 'kcal',
    nutrientRegistry: {},
    ...(before && bare(before)),
    version: (before?.version ?? 0) + 1,
    updatedAt: isoOf(occurredAt),
    effectiveFromDate: before !== undefined && before.effectiveFromDate > from ? before.effectiveFromDate : from,
    // `_heard` remembers a limited number of events. Imported events are not added, because a large import would replace all others.
    ...(!isImported(event) && { _heard: withApplied(before?._heard, event) }),
  }
}

/** Stores the current targets, and a copy under the first day on which they apply. */
const storeTargets = (event: Change, after: TargetsItem): Result => {
  const { effectiveFromDate, _heard, ...targets } = after
  return {
    items: [
      after,
      { ...targets, ...dayTargets.key(event.meta.key, effectiveFromDate) } satisfies TargetsAsOfItem,
      ...importedEventItems(event),
    ],
  }
}

/** The next day. Targets can apply from the next UTC day on, because in some time zone this day has begun already. */
const dayAfter = (day: string): string => dateOf((dayNumberOf(day) ?? 0) + 1)
