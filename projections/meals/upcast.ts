import type { Event } from '../../schemas/event.ts'
import type {
  LegacyMealAdopted,
  MealLogged,
  MealLoggedPersonal,
  NutrientAmount,
  NutrientRegistryChanged,
  TargetsChanged,
} from '../../schemas/generated/meals.ts'
import type { PatIssued, PatUsed } from '../../schemas/generated/common.ts'
import { DAY_RULE_VERSION, isDay, isOffset } from './day.ts'
import { isInstant, isoOf, utcDateOf } from '../instant.ts'
import { MACROS, FORMAT_VERSION } from './items.ts'
import { isUid, mealIdOf } from './keys.ts'
import { isName } from '../access/keys.ts'
import type { Origin } from '../importing.ts'
import { isAmount, isNutrientName, milliOf } from './nutrients.ts'
import { field, instantOf, mapField, numberField, rowOf, textField, type Row } from '../rows.ts'

/** The events of a row of an older table. The events contain only the current spelling, and whole numbers instead of floats. */
type RowEventOf<E extends Event> =
  E extends Event<infer T, infer D, infer P>
    ? {
        readonly type: T
        readonly user: string
        readonly occurredAt: number
        readonly data: D
        readonly personal: P | null
      }
    : never
type RowEvent = RowEventOf<
  MealLogged | LegacyMealAdopted | TargetsChanged | NutrientRegistryChanged | PatIssued | PatUsed
>

export type Upcast =
  | { readonly kind: 'events'; readonly events: readonly RowEvent[] }
  /** Summaries, usage and internal rows are derived. The folds produce them again from the events. */
  | { readonly kind: 'derived' }
  | { readonly kind: 'unreadable'; readonly reason: string }

export const upcast = (raw: unknown, origin: Origin): Upcast => {
  const row = rowOf(raw)
  if (row === undefined) return unreadable('it is not an item in JSON or in DynamoDB JSON')
  const [pk, sk] = [textField(row, 'PK') ?? '', textField(row, 'SK') ?? '']
  const user = /^USER#([A-Za-z0-9_.:@-]{1,64})$/.exec(pk)?.[1]
  if (sk.startsWith('IDEM#') || /^(IDEM|OUTCOME|OUTBOX|PARKED|TIMER)#/.test(pk)) return { kind: 'derived' }
  if (user === undefined) return unreadable(`its PK ${JSON.stringify(pk)} is not USER# and a user id`)
  const context: RowContext = { user, sk, row, origin }
  if (sk.startsWith('MEAL#')) return mealRow(context)
  if (sk === 'CONFIG#TARGETS') return targetsRow(context)
  if (sk.startsWith('PAT#')) return tokenRow(context)
  if (/^(SUMMARY|USAGE|DAY|GONE|TARGETS|IMPORT|SEEN)#/.test(sk)) return { kind: 'derived' }
  return unreadable(`its SK ${JSON.stringify(sk)} is not a sort key of the meals table`)
}

interface RowContext {
  readonly user: string
  readonly sk: string
  readonly row: Row
  readonly origin: Origin
}

const unreadable = (reason: string): Upcast => ({ kind: 'unreadable', reason })

const mealRow = ({ user, sk, row, origin }: RowContext): Upcast => {
  const [, instant, uid = 'legacy'] = sk.split('#')
  const eatenAt = instantOf(instant)
  if (eatenAt === undefined || !isInstant(eatenAt) || !isUid(uid))
    return unreadable(`its SK ${JSON.stringify(sk)} is not MEAL#, an instant and a uid`)
  const userDate = textField(row, 'userDate') ?? null
  if (userDate !== null && !isDay(userDate)) return unreadable(`its userDate ${JSON.stringify(userDate)} is not a day`)
  const amounts = amountsOf(row)
  if (typeof amounts === 'string') return unreadable(amounts)
  const createdAt = instantOf(textField(row, 'createdAt')) ?? null
  const fields = {
    mealId: mealIdOf(isoOf(eatenAt), uid),
    eatenAt,
    ...amounts,
    importId: origin.importId,
    rowHash: origin.rowHash,
  }
  const common = { user, occurredAt: createdAt ?? eatenAt, personal: textOf(row) }
  const zoned = userDate === null ? undefined : zoneOf(row, userDate)
  if (zoned !== undefined)
    return { kind: 'events', events: [{ ...common, type: 'MealLogged', data: { ...fields, ...zoned } }] }
  const formatVersion = numberField(row, 'formatVersion') ?? FORMAT_VERSION - 1
  return {
    kind: 'events',
    events: [
      { ...common, type: 'LegacyMealAdopted', data: { ...fields, legacySk: sk, formatVersion, userDate, createdAt } },
    ],
  }
}

/**
 * The zone and the day of a row from a table of this program. Such a row becomes a MealLogged event. Its nutrients are not
 * filtered again, because they were filtered when the meal was first logged. Undefined if the row has no zone: it comes
 * from an older program, and becomes a LegacyMealAdopted event.
 */
const zoneOf = (row: Row, userDate: string) => {
  const [tz, utcOffsetMinutes] = [textField(row, 'tz'), numberField(row, 'utcOffsetMinutes')]
  if (tz === undefined || utcOffsetMinutes === undefined || !isOffset(utcOffsetMinutes)) return undefined
  const dropped = nutrientsOf(mapField(row, 'droppedNutrients'))
  if (typeof dropped === 'string') return undefined
  const day = { userDate, dayOverridden: field(row, 'dayOverridden') === true, dayRuleVersion: DAY_RULE_VERSION }
  return { tz, utcOffsetMinutes, ...day, dropped, registryVersion: 0 }
}

const textOf = (row: Row): MealLoggedPersonal => ({
  mealSummary: textField(row, 'mealSummary') ?? '',
  emoji: textField(row, 'emoji') ?? null,
  notes: textField(row, 'notes') ?? null,
})

type Amounts = { readonly [Macro in (typeof MACROS)[number]]: number } & {
  readonly extended: readonly NutrientAmount[]
}

/** The amounts of a row. Floats are rounded to the nearest thousandth, and an absent amount is 0. Returns the reason if one is not valid. */
const amountsOf = (row: Row): Amounts | string => {
  const extended = nutrientsOf(mapField(row, 'extendedNutrients'))
  if (typeof extended === 'string') return extended
  for (const macro of MACROS) {
    if (!isAmount(milliOf(numberField(row, macro) ?? 0)) || typeof (field(row, macro) ?? 0) !== 'number')
      return `its ${macro} is not an amount`
  }
  const milliIn = (macro: (typeof MACROS)[number]): number => milliOf(numberField(row, macro) ?? 0)
  return {
    calories: milliIn('calories'),
    protein: milliIn('protein'),
    carbs: milliIn('carbs'),
    fat: milliIn('fat'),
    extended,
  }
}

const nutrientsOf = (map: Row): readonly NutrientAmount[] | string => {
  const list: NutrientAmount[] = []
  for (const [name, value] of Object.entries(map)) {
    if (value === null) continue
    if (typeof value !== 'number' || !isAmount(milliOf(value)) || !isNutrientName(name))
      return `its nutrient ${JSON.stringify(name)} is not an amount`
    list.push({ name, amount: milliOf(value) })
  }
  return list
}

const targetsRow = ({ user, row, origin }: RowContext): Upcast => {
  const occurredAt = instantOf(textField(row, 'updatedAt')) ?? origin.at
  const unit = textField(row, 'displayUnit')?.toLowerCase()
  const goals = amountsOf(row)
  if (typeof goals === 'string') return unreadable(goals)
  const milliIn = (macro: (typeof MACROS)[number]): number | null =>
    numberField(row, macro) === undefined ? null : goals[macro]
  const data: TargetsChanged['data'] = {
    expectedVersion: null,
    calories: milliIn('calories'),
    protein: milliIn('protein'),
    carbs: milliIn('carbs'),
    fat: milliIn('fat'),
    displayUnit: unit === 'kcal' || unit === 'kj' ? unit : null,
    effectiveFromDate: textField(row, 'effectiveFromDate') ?? utcDateOf(occurredAt),
  }
  const common = { user, occurredAt, personal: null }
  const registry = Object.entries(mapField(row, 'nutrientRegistry'))
  if (!registry.every(([name]) => isNutrientName(name)))
    return unreadable('its nutrientRegistry contains an invalid name')
  const nutrients = registry.map(
    ([name, defined]) => ({ ...common, type: 'NutrientRegistryChanged', data: definitionOf(name, defined) }) as const,
  )
  return { kind: 'events', events: [{ ...common, type: 'TargetsChanged', data }, ...nutrients] }
}

const definitionOf = (name: string, defined: Row[string]): NutrientRegistryChanged['data'] => {
  const row: Row = typeof defined === 'string' ? { unit: defined } : mapField({ defined }, 'defined')
  const goal = milliOf(numberField(row, 'goal') ?? NaN)
  return {
    name,
    unit: textField(row, 'unit') ?? null,
    goal: isAmount(goal) ? goal : null,
    removed: false,
    expectedVersion: null,
  }
}

const tokenRow = ({ user, sk, row, origin }: RowContext): Upcast => {
  const hash = /^PATHASH#([0-9a-f]{64})$/i.exec(textField(row, 'GSI1PK') ?? '')?.[1]
  if (hash === undefined) return unreadable('its GSI1PK is not PATHASH# and a SHA-256')
  const patId = sk.slice('PAT#'.length)
  if (!isName(patId)) return unreadable(`its SK ${JSON.stringify(sk)} is not PAT# and an id`)
  const listed = field(row, 'scopes')
  const scopes = Array.isArray(listed) ? listed.filter((scope) => scope === 'read' || scope === 'write') : []
  const common = { user, occurredAt: instantOf(textField(row, 'createdAt')) ?? origin.at }
  const issued = {
    ...common,
    type: 'PatIssued',
    data: { patId, hash: hash.toLowerCase(), scopes },
    personal: { name: textField(row, 'name') ?? '' },
  } as const
  const date = textField(row, 'lastUsedAt')
  const used = { ...common, type: 'PatUsed', data: { patId, date: date ?? '' }, personal: null } as const
  return { kind: 'events', events: date !== undefined && isDay(date) ? [issued, used] : [issued] }
}
