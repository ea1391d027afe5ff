// Contains one event of every type of meals.
import type { EventMeta } from '../../schemas/event.ts'
import type { MealsEvent } from '../../schemas/generated/meals.ts'
import type { CommonEvent } from '../../schemas/generated/common.ts'

const meta: EventMeta = {
  eventId: '01990b4c-1111-7abc-8def-0123456789ab',
  key: 'ada',
  occurredAt: 1_790_000_000_000,
  recordedAt: 1_790_000_000_005,
  source: 'api',
  correlationId: 'c',
  causationId: null,
  actorId: 'ada',
  subjectId: 'ada',
  request: { key: 'idem', hash: 'abc' },
}

const mealId = '20261116T081500000Z-01990b4c-1111-7abc-8def-0123456789ab'
const amounts = { calories: 450_000, protein: 25_000, carbs: 30_500, fat: 0 }
const extended = [{ name: 'fiber', amount: 3_500 }]
const text = { mealSummary: 'Zwei Eier, Brot und Kaffee', emoji: '🍳', notes: null }

export const MEALS: readonly (MealsEvent | CommonEvent)[] = [
  {
    type: 'MealLogged',
    meta,
    data: {
      mealId,
      eatenAt: 1_790_000_000_000,
      tz: 'Europe/Berlin',
      utcOffsetMinutes: 60,
      userDate: '2026-11-16',
      dayOverridden: false,
      dayRuleVersion: 1,
      ...amounts,
      extended,
      dropped: [],
      registryVersion: 3,
      importId: null,
      rowHash: null,
    },
    personal: text,
  },
  {
    type: 'MealCorrected',
    meta,
    data: {
      mealId,
      expectedRevision: 1,
      eatenAt: null,
      tz: null,
      utcOffsetMinutes: null,
      userDate: null,
      dayOverridden: true,
      dayRuleVersion: 1,
      calories: null,
      protein: 0,
      carbs: null,
      fat: null,
      extended,
      dropped: null,
      registryVersion: null,
    },
    personal: { mealSummary: null, emoji: null, notes: 'less', reason: 'typo' },
  },
  { type: 'MealDeleted', meta, data: { mealId }, personal: null },
  { type: 'MealRestored', meta, data: { mealId }, personal: null },
  {
    type: 'MealDayReassigned',
    meta,
    data: { mealId, to: '2026-11-15', dayRuleVersion: 1, expectedRevision: null },
    personal: null,
  },
  { type: 'MealsImported', meta, data: { importId: 'i', count: 3, source: 'csv' }, personal: null },
  {
    type: 'TargetsChanged',
    meta,
    data: {
      expectedVersion: 0,
      calories: 2_000_000,
      protein: null,
      carbs: 0,
      fat: null,
      displayUnit: 'kj',
      effectiveFromDate: '2026-11-01',
    },
    personal: null,
  },
  {
    type: 'NutrientRegistryChanged',
    meta,
    data: { name: 'fiber', unit: 'g', goal: 30_000, removed: false, expectedVersion: null },
    personal: null,
  },
  {
    type: 'PatIssued',
    meta,
    data: { patId: 'p', hash: 'f00d', scopes: ['read', 'write'] },
    personal: { name: 'phone' },
  },
  { type: 'PatRevoked', meta, data: { patId: 'p' }, personal: null },
  { type: 'PatUsed', meta, data: { patId: 'p', date: '2026-11-16' }, personal: null },
  { type: 'ApiUsageSampled', meta, data: { date: '2026-11-16', reads: 1, writes: 0, weight: 10 }, personal: null },
  {
    type: 'LegacyMealAdopted',
    meta,
    data: {
      mealId,
      legacySk: 'MEAL#2024-01-01T08:00:00Z#x',
      formatVersion: 3,
      eatenAt: 1_704_096_000_000,
      userDate: null,
      createdAt: null,
      ...amounts,
      extended,
      importId: 'i',
      rowHash: 'r',
    },
    personal: text,
  },
]
