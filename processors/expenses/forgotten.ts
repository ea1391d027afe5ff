import type { PersonForgotten } from '../../schemas/generated/common.ts'
import { tokens, userPartition } from '../../projections/access/keys.ts'
import { bare, keyOf, type Item, type Key, type Value } from '../../projections/item.ts'
import type { Change, Get, PersonalItems, Result } from '../../projections/projection.ts'
import { isoOf } from '../../projections/instant.ts'
import { groupPartition, members, profiles } from '../../projections/expenses/keys.ts'
import { tokenForgotten } from '../access/tokens.ts'
import { startWork } from '../access/work.ts'
import { withdraw } from './roster.ts'

/** Under which id the words of a person lie, wherever they were written. */
const WORDS: readonly (readonly [whose: string, words: readonly string[]])[] = [
  ['payerId', ['payerName']],
  ['userId', ['userName']],
  ['fromUserId', ['fromUserName']],
  ['toUserId', ['toUserName']],
  ['by', ['byName']],
  ['describedBy', ['description', 'reason']],
]
const OWN = ['name', 'username', 'wallet', 'avatarUrl']

/**
 * Names and words leave; ids and numbers stay. What is left is what folding the same events with their personal field forgotten leaves.
 * Each item named is written, whatever it holds, so that every replay writes the same ones. Nobody can act for a forgotten person, so a
 * group that they own gets another owner.
 */
export const personForgotten = (event: PersonForgotten, get: Get): Result => {
  const { data, meta } = event
  const subject = meta.subjectId
  if (subject === null) return {}
  const places = personalItems.partitions(meta.key)
  const named = new Map(data.items.filter(({ pk }) => places.includes(pk)).map(({ pk, sk }) => [`${pk}\u0000${sk}`, { PK: pk, SK: sk }]))
  const changes = new Map([...named.values()].flatMap((key) => without(get(key), subject, isoOf(meta.occurredAt))).map((change) => [keyOf(change), change]))
  const work = startWork(<I extends Item>(key: Key) => {
    const change = changes.get(keyOf(key))
    return change === undefined ? get<I>(key) : '_removed' in change ? undefined : (change as I)
  })
  withdraw(work, event, subject)
  for (const change of work.result().items ?? []) changes.set(keyOf(change), change)
  return { items: [...changes.values()] }
}

const without = (item: Item | undefined, subject: string, at: string): readonly Change[] => {
  if (item === undefined) return []
  if (isTokenOf(item, subject)) return tokenForgotten(subject, item, at)
  return item.SK.startsWith(tokens.prefix) ? [] : [wordless(bare(item), subject)]
}

const wordless = (item: Item, subject: string): Item => {
  const left: { [name: string]: Value | undefined } = { ...item }
  for (const name of wordsIn(item, subject)) left[name] = null
  if (Array.isArray(item['splits'])) left['splits'] = (item['splits'] as readonly Item[]).map((split) => wordless(split, subject))
  if (isKept(item['expense'])) left['expense'] = wordless(item['expense'], subject)
  return left as Item
}

/** All of a group lies in its partition, and all of a person in theirs. */
export const personalItems: PersonalItems = {
  partitions: (key) => [groupPartition(key), userPartition(key)],
  holds: (item, subject) => isTokenOf(item, subject) || hasWords(item, subject),
}

const isTokenOf = ({ PK, SK }: Item, subject: string): boolean => PK === userPartition(subject) && SK.startsWith(tokens.prefix)

const hasWords = (item: Item, subject: string): boolean =>
  wordsIn(item, subject).length > 0
  || (Array.isArray(item['splits']) && (item['splits'] as readonly Item[]).some((split) => hasWords(split, subject)))
  || (isKept(item['expense']) && hasWords(item['expense'], subject))

/** The attributes in which something of theirs is left. */
const wordsIn = (item: Item, subject: string): readonly string[] => {
  const theirs = WORDS.flatMap(([whose, words]) => (item[whose] === subject ? words : []))
  const own = isRowOf(item, subject) ? OWN : []
  return [...theirs, ...own].filter((name) => typeof item[name] === 'string')
}

/** Their row in a group, or their profile. */
const isRowOf = ({ PK, SK }: Item, subject: string): boolean => SK === members.prefix + subject || (SK === profiles.key(subject).SK && PK === profiles.key(subject).PK)

/** The expense in a DeletedExpenseItem. */
const isKept = (value: Value | undefined): value is Item => typeof value === 'object' && value !== null && 'SK' in value
