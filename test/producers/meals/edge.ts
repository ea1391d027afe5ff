import { meals } from '../../../processors/meals/domain.ts'
import { mealsEdge } from '../../../producers/meals/edge.ts'
import { openMemoryEdge, type MemoryEdge, type MemoryEdgeOptions } from '../../../testing/edge/edge.ts'

export const openMealsEdge = (options: Partial<MemoryEdgeOptions> = {}): Promise<MemoryEdge> =>
  openMemoryEdge({ domain: meals, edge: mealsEdge, ...options })

export const BREAKFAST = {
  eatenAt: '2026-11-16T08:30:00+01:00',
  tz: 'Europe/Berlin',
  mealSummary: 'Oats with berries',
  emoji: '🥣',
  calories: 412.5,
  protein: 14.2,
  carbs: 61.125,
  fat: 9,
} as const
