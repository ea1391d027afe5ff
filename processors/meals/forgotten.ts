import type { PersonForgotten } from '../../schemas/generated/common.ts'
import { tokens, userPartition } from '../../projections/access/keys.ts'
import { bare, type Draft, type Item } from '../../projections/item.ts'
import type { Change, Get, PersonalItems, Result } from '../../projections/projection.ts'
import { isoOf } from '../../projections/instant.ts'
import type { GoneMealItem, MealItem } from '../../projections/meals/items.ts'
import { goneMeals, meals } from '../../projections/meals/keys.ts'
import { tokenForgotten } from '../access/tokens.ts'

/**
 * The words leave the meals, the numbers stay; every token is revoked. What is left is what folding the same events with their personal
 * field forgotten leaves. Each item named is written, whatever it holds, so that every replay writes the same ones.
 */
export const personForgotten = ({ data, meta }: PersonForgotten, get: Get): Result => {
  const at = isoOf(meta.occurredAt)
  const PK = userPartition(meta.key)
  const names = new Set(data.items.filter(({ pk }) => pk === PK).map(({ sk }) => sk))
  return { items: [...names].flatMap((SK) => without(meta.key, get({ PK, SK }), at)) }
}

const without = (user: string, item: Item | undefined, at: string): readonly Change[] => {
  if (item === undefined) return []
  if (item.SK.startsWith(meals.prefix)) return [wordless(bare(item as MealItem))]
  if (item.SK.startsWith(goneMeals.prefix)) return [wordlessGone(bare(item as GoneMealItem))]
  if (!item.SK.startsWith(tokens.prefix)) return []
  return tokenForgotten(user, item, at)
}

const wordless = (meal: MealItem): MealItem => {
  const left: Draft<MealItem> = { ...meal, mealSummary: null }
  delete left.emoji
  delete left.notes
  return left
}

const wordlessGone = (gone: GoneMealItem): GoneMealItem =>
  gone.state === 'moved' || gone.meal === null ? gone : { ...gone, meal: wordless(gone.meal) }

/** All of a user lies in one partition. */
export const personalItems: PersonalItems = {
  partitions: (user) => [userPartition(user)],
  holds: (item) => {
    if (item.SK.startsWith(meals.prefix)) return hasWords(item as MealItem)
    if (!item.SK.startsWith(goneMeals.prefix)) return item.SK.startsWith(tokens.prefix)
    const gone = item as GoneMealItem
    return gone.state === 'deleted' && gone.meal !== null && hasWords(gone.meal)
  },
}

const hasWords = ({ mealSummary, emoji, notes }: MealItem): boolean => mealSummary !== null || emoji !== undefined || notes !== undefined
