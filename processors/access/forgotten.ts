import type { PersonForgotten } from '../../schemas/generated/common.ts'
import { tokens, userPartition } from '../../projections/access/keys.ts'
import { isoOf } from '../../projections/instant.ts'
import { bare, keyOf, sameItem, type Item, type Key } from '../../projections/item.ts'
import { withoutWords, type PersonalByKind } from '../../projections/personal.ts'
import type { Change, Get, PersonalItems, Result } from '../../projections/projection.ts'
import { tokenForgotten } from './tokens.ts'
import { startWork, type Work } from './work.ts'

/** The declarations by which one fold forgets people in a domain. Tokens need none, because every domain has them. */
export interface Forgetting {
  /** The partitions of a log key in which the person's words can be. Default: the partition of the user with that id. */
  readonly partitions?: PersonalItems['partitions']
  readonly personal?: PersonalByKind
  /** Further changes, on top of the items without the person's words. */
  readonly also?: (work: Work, event: PersonForgotten, subject: string) => void
}

/**
 * Finds the items with words of a person, and folds `PersonForgotten`: it revokes the person's tokens and removes their words from the
 * other items that the event names. The fold leaves what the same events leave if their personal data cannot be read. It writes each item
 * that the event names, also if nothing in it changes, so that every replay writes the same items.
 */
export const forgetting = ({ partitions = (key) => [userPartition(key)], personal = {}, also }: Forgetting = {}) => {
  const kinds = Object.entries(personal)
  const wordless = (item: Item, subject: string): Item => withoutWords(item, kinds.find(([prefix]) => item.SK.startsWith(prefix))?.[1] ?? {}, subject)
  const personalItems: PersonalItems = { partitions, holds: (item, subject) => isToken(item) || !sameItem(item, wordless(item, subject)) }

  const personForgotten = (event: PersonForgotten, get: Get): Result => {
    const { data, meta } = event
    const subject = meta.subjectId ?? meta.key
    const places = partitions(meta.key, subject)
    const named = new Map(data.items.filter(({ pk }) => places.includes(pk)).map(({ pk, sk }) => [keyOf({ PK: pk, SK: sk }), { PK: pk, SK: sk }]))
    const changesOf = (item: Item): readonly Change[] => (isToken(item) ? tokenForgotten(meta.key, item, isoOf(meta.occurredAt)) : [wordless(bare(item), subject)])
    const changes = [...named.values()].flatMap((key) => get(key) ?? []).flatMap(changesOf)
    return { items: also === undefined ? changes : changedFurther(changes, get, (work) => also(work, event, subject)) }
  }
  return { personalItems, personForgotten }
}

const isToken = ({ SK }: Key): boolean => SK.startsWith(tokens.prefix)

const changedFurther = (changes: readonly Change[], get: Get, change: (work: Work) => void): readonly Change[] => {
  const byKey = new Map(changes.map((each) => [keyOf(each), each]))
  const work = startWork(<I extends Item>(key: Key) => {
    const changed = byKey.get(keyOf(key))
    return changed === undefined ? get<I>(key) : '_removed' in changed ? undefined : (changed as I)
  })
  change(work)
  for (const each of work.result().items ?? []) byKey.set(keyOf(each), each)
  return [...byKey.values()]
}
