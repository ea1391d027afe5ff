import { inUser } from '../access/keys.ts'
import type { Key } from '../item.ts'
import type {
  DayPointerItem,
  DaySummaryItem,
  GoneMealItem,
  ImportItem,
  MealItem,
  ImportedEventItem,
  TargetsAsOfItem,
  TargetsItem,
} from './items.ts'

/**
 * The entities of the meals table. Instants and dates have a fixed width and precede parts of variable width. User
 * ids contain no `#`. So two different items never have the same key.
 */

/** `eaten` is the current ISO instant of the meal. The uid stays when the meal moves to another instant. */
export const meals = inUser<MealItem, [eaten: string, uid: string]>('meal', 'MEAL#')
export const goneMeals = inUser<GoneMealItem, [mealId: string]>('deleted meal', 'GONE#MEAL#')
export const dayPointers = inUser<DayPointerItem, [day: string, eaten: string, mealId: string]>('day pointer', 'DAY#')
export const summaries = inUser<DaySummaryItem, [day: string]>('day summary', 'SUMMARY#')
export const targets = inUser<TargetsItem>('targets', 'CONFIG#TARGETS')
/** The targets that apply from a day on. */
export const dayTargets = inUser<TargetsAsOfItem, [day: string]>('targets of a day', 'TARGETS#')
export const imports = inUser<ImportItem, [importId: string]>('import', 'IMPORT#')
export const importedEvents = inUser<ImportedEventItem, [eventId: string]>('event seen', 'SEEN#')

/** The key of an item, without its attributes. */
export const keyIn = ({ PK, SK }: Key): Key => ({ PK, SK })

/** `<YYYYMMDDTHHMMSSmmmZ>-<uid>`. The id contains the instant that the meal had when it was created. */
export const mealIdOf = (eaten: string, uid: string): string =>
  `${eaten.slice(0, 4)}${eaten.slice(5, 7)}${eaten.slice(8, 13)}${eaten.slice(14, 16)}${eaten.slice(17, 19)}${eaten.slice(20)}-${uid}`

/** For each character of the instant in a meal id: the index of this character in the ISO form of the instant. */
const IN_ISO = [0, 1, 2, 3, 5, 6, 8, 9, 10, 11, 12, 14, 15, 17, 18, 20, 21, 22, 23]

/** True if the id names this instant. Compares characters and does not build the id, because the fold of every meal calls this function. */
export const isMealIdOf = (mealId: string, eaten: string): boolean => {
  for (let i = 0; i < IN_ISO.length; i++) if (mealId.charCodeAt(i) !== eaten.charCodeAt(IN_ISO[i] ?? -1)) return false
  return mealId.charAt(IN_ISO.length) === '-' && isUid(uidOf(mealId))
}

const ID = /^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\d)(\d{3}Z)-([A-Za-z0-9_-]{1,64})$/

export interface MealName {
  readonly eaten: string
  readonly uid: string
}

export const mealNameOf = (mealId: string): MealName | undefined => {
  const [, year, month, dayHour, minute, second, rest, uid] = ID.exec(mealId) ?? []
  return uid === undefined ? undefined : { eaten: `${year}-${month}-${dayHour}:${minute}:${second}.${rest}`, uid }
}

const UID = /^[A-Za-z0-9_-]{1,64}$/
export const isUid = (uid: string): boolean => UID.test(uid)

const ID_PREFIX = '20261116T080000000Z-'.length
export const uidOf = (mealId: string): string => mealId.slice(ID_PREFIX)

/** The current instant of a meal, from its sort key. */
export const eatenOf = (sk: string): string =>
  sk.slice(meals.prefix.length, meals.prefix.length + '2026-11-16T08:00:00.000Z'.length)

/** The day in the sort key of an entity whose ids begin with a date. */
export const dayIn = (sk: string, { prefix }: { readonly prefix: string }): string =>
  sk.slice(prefix.length, prefix.length + '2026-11-16'.length)
