import { userKey } from '../access/keys.ts'
import type { Key } from '../item.ts'

/**
 * Every key of the meals table, spelled once. Instants and dates have a fixed width and come before what varies,
 * and no user id holds a `#`, so two different things never share a key.
 */
const key = userKey

/** Where an item lies, without the rest of it. */
export const keyIn = ({ PK, SK }: Key): Key => ({ PK, SK })

export const MEALS = 'MEAL#'
export const SUMMARIES = 'SUMMARY#'
export const TARGETS_AS_OF = 'TARGETS#'
export const IMPORTS = 'IMPORT#'

/** `eaten` is the ISO instant at which the meal lies now; the uid stays when it moves. */
export const mealSk = (eaten: string, uid: string): string => `MEAL#${eaten}#${uid}`
export const mealKey = (user: string, eaten: string, uid: string): Key => key(user, mealSk(eaten, uid))
export const GONE_MEALS = 'GONE#MEAL#'
export const goneMealKey = (user: string, mealId: string): Key => key(user, `${GONE_MEALS}${mealId}`)
export const dayPointers = (day: string): string => `DAY#${day}#`
/** `$` follows `#`: after every pointer of the day, before any of another. */
export const dayPointersEnd = (day: string): string => `DAY#${day}$`
export const dayPointerKey = (user: string, at: { day: string; eaten: string; mealId: string }): Key =>
  key(user, `DAY#${at.day}#${at.eaten}#${at.mealId}`)
export const summaryKey = (user: string, day: string): Key => key(user, `SUMMARY#${day}`)
export const targetsKey = (user: string): Key => key(user, 'CONFIG#TARGETS')
export const targetsAsOfKey = (user: string, day: string): Key => key(user, `TARGETS#${day}`)
export const importKey = (user: string, importId: string): Key => key(user, `IMPORT#${importId}`)
export const seenKey = (user: string, eventId: string): Key => key(user, `SEEN#${eventId}`)

/** `<YYYYMMDDTHHMMSSmmmZ>-<uid>`: the id holds the instant at which the meal was first said to be eaten. */
export const mealIdOf = (eaten: string, uid: string): string =>
  `${eaten.slice(0, 4)}${eaten.slice(5, 7)}${eaten.slice(8, 13)}${eaten.slice(14, 16)}${eaten.slice(17, 19)}${eaten.slice(20)}-${uid}`

/** Where the characters of an id's instant stand in its ISO form. */
const IN_ISO = [0, 1, 2, 3, 5, 6, 8, 9, 10, 11, 12, 14, 15, 17, 18, 20, 21, 22, 23]

/** The same as building the id and comparing, for the fold of every meal. */
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

/** The instant in a meal's sort key: where it lies now. */
export const eatenOf = (sk: string): string => sk.slice(MEALS.length, MEALS.length + '2026-11-16T08:00:00.000Z'.length)

/** The day in a sort key that begins with a prefix and a date. */
export const dayIn = (sk: string, prefix: string): string => sk.slice(prefix.length, prefix.length + '2026-11-16'.length)
