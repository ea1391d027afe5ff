import type { Event, EventMeta } from '../../../schemas/event.ts'
import type {
  LegacyMealAdopted,
  MealCorrected,
  MealDayReassigned,
  MealDeleted,
  MealLogged,
  MealLoggedPersonal,
  MealRestored,
  MealsImported,
  NutrientRegistryChanged,
  TargetsChanged,
} from '../../../schemas/generated/meals.ts'
import type { ApiUsageSampled, PatIssued, PatRevoked, PatUsed } from '../../../schemas/generated/common.ts'
import { dayOf } from '../../../projections/meals/day.ts'
import { isoOf } from '../../../projections/instant.ts'
import { mealIdOf } from '../../../projections/meals/keys.ts'
import { metaOf as eventMeta } from '../../../testing/event.ts'

// The functions of this file make events as the edge appends them, with defaults for all fields. Each event has its own id.

export const NOW = Date.parse('2026-11-16T12:00:00.000Z')

export const metaOf = (meta: Partial<EventMeta> = {}): EventMeta => eventMeta({ key: 'ada', ...meta })

export const at = (iso: string): number => Date.parse(iso)
export const idOf = (eatenAt: number, uid = 'u1'): string => mealIdOf(isoOf(eatenAt), uid)

export const BREAKFAST = at('2026-11-16T08:00:00.000Z')
export const ID = idOf(BREAKFAST)
export const MEAL = 'MEAL#2026-11-16T08:00:00.000Z#u1'
export const SUMMARY = 'SUMMARY#2026-11-16'
export const GONE = `GONE#MEAL#${ID}`

type Data<E extends Event> = Partial<E['data']>
export type Fields<E extends Event> = Data<E> & { meta?: Partial<EventMeta>; personal?: E['personal'] }

const event = <E extends Event>(
  type: E['type'],
  data: E['data'],
  { meta, personal }: { meta?: Partial<EventMeta>; personal: E['personal'] },
) => ({ type, meta: metaOf(meta), data, personal }) as E

export const chili: MealLoggedPersonal = { mealSummary: 'Bowl of Chili', emoji: '🥣', notes: 'hot' }

export const logged = ({
  meta,
  personal = chili,
  uid = 'u1',
  ...fields
}: Fields<MealLogged> & { uid?: string } = {}): MealLogged => {
  const eatenAt = fields.eatenAt ?? BREAKFAST
  const utcOffsetMinutes = fields.utcOffsetMinutes ?? 0
  const data = {
    mealId: idOf(eatenAt, uid),
    eatenAt,
    tz: 'UTC',
    utcOffsetMinutes,
    userDate: dayOf(eatenAt, utcOffsetMinutes),
    dayOverridden: false,
    dayRuleVersion: 1,
    calories: 500_000,
    protein: 30_000,
    carbs: 40_500,
    fat: 20_100,
    extended: [],
    dropped: [],
    registryVersion: null,
    importId: null,
    rowHash: null,
    ...fields,
  }
  return event<MealLogged>('MealLogged', data, { personal, ...(meta && { meta }) })
}

export const corrected = ({ meta, personal = null, ...fields }: Fields<MealCorrected> = {}): MealCorrected => {
  const data = {
    mealId: ID,
    expectedRevision: null,
    eatenAt: null,
    tz: null,
    utcOffsetMinutes: null,
    userDate: null,
    dayOverridden: null,
    dayRuleVersion: 1,
    calories: null,
    protein: null,
    carbs: null,
    fat: null,
    extended: null,
    dropped: null,
    registryVersion: null,
    ...fields,
  }
  return event<MealCorrected>('MealCorrected', data, { personal, ...(meta && { meta }) })
}

const plain =
  <E extends Event>(type: E['type'], defaults: E['data']) =>
  ({ meta, personal, ...fields }: Fields<E> = {} as Fields<E>): E =>
    event<E>(type, { ...(defaults as object), ...fields } as E['data'], {
      personal: personal ?? null,
      ...(meta && { meta }),
    })

export const deleted = plain<MealDeleted>('MealDeleted', { mealId: ID })
export const restored = plain<MealRestored>('MealRestored', { mealId: ID })
export const reassigned = plain<MealDayReassigned>('MealDayReassigned', {
  mealId: ID,
  to: '2026-11-15',
  dayRuleVersion: 1,
  expectedRevision: null,
})
export const imported = plain<MealsImported>('MealsImported', {
  importId: 'import-1',
  count: 3,
  source: 'export.ndjson',
})
export const targetsChanged = plain<TargetsChanged>('TargetsChanged', {
  expectedVersion: null,
  calories: null,
  protein: null,
  carbs: null,
  fat: null,
  displayUnit: null,
  effectiveFromDate: '2026-11-16',
})
export const nutrientChanged = plain<NutrientRegistryChanged>('NutrientRegistryChanged', {
  name: 'fiber',
  unit: 'g',
  goal: null,
  removed: false,
  expectedVersion: null,
})
export const patIssued = plain<PatIssued>('PatIssued', {
  patId: 'p1',
  hash: 'ab'.repeat(32),
  scopes: ['read', 'write'],
})
export const patRevoked = plain<PatRevoked>('PatRevoked', { patId: 'p1' })
export const patUsed = plain<PatUsed>('PatUsed', { patId: 'p1', date: '2026-11-16' })
export const usageSampled = plain<ApiUsageSampled>('ApiUsageSampled', {
  date: '2026-11-16',
  reads: 1,
  writes: 0,
  weight: 10,
})

export const adopted = ({
  meta,
  personal = chili,
  uid = 'u1',
  ...fields
}: Fields<LegacyMealAdopted> & { uid?: string } = {}): LegacyMealAdopted => {
  const eatenAt = fields.eatenAt ?? BREAKFAST
  const data = {
    mealId: idOf(eatenAt, uid),
    legacySk: `MEAL#${isoOf(eatenAt)}#${uid}`,
    formatVersion: 3,
    eatenAt,
    userDate: null,
    createdAt: null,
    calories: 500_000,
    protein: 30_000,
    carbs: 40_000,
    fat: 20_000,
    extended: [],
    importId: 'import-1',
    rowHash: 'row-1',
    ...fields,
  }
  return event<LegacyMealAdopted>('LegacyMealAdopted', data, { personal, ...(meta && { meta }) })
}
