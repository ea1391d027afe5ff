import type { PersonForgotten } from '../../schemas/generated/common.ts'
import { tokens, userPartition } from '../../projections/access/keys.ts'
import { isoOf } from '../../projections/instant.ts'
import { isNumberedPart, personOf } from '../../projections/subject.ts'
import { bare, keyOf, sameItem, type Item, type Key } from '../../projections/item.ts'
import { withoutPersonalData, type PersonalByKind } from '../../projections/personal.ts'
import type { Change, Get, PersonalItems, Result } from '../../projections/projection.ts'
import { tokenForgotten } from './tokens.ts'
import { startWork, type Work } from './work.ts'

/** Declares which items of a domain contain personal data. Tokens are not declared here, because every domain has them. */
export interface Forgetting {
  /**
   * Returns the partitions (PK) of a log key whose items can contain personal data of the person. Default: the partition of the user whose
   * id is the log key.
   */
  readonly partitions?: PersonalItems['partitions']
  readonly personal?: PersonalByKind
  /** Makes further changes after the personal data was removed. Default: none. */
  readonly also?: (work: Work, event: PersonForgotten, subject: string) => void
}

/**
 * Returns `personalItems`, which finds the items with personal data of a person, and `personForgotten`, the fold of the event
 * `PersonForgotten`. The fold revokes the person's tokens and removes the personal data from the other items that the event names. After
 * it, the items are the same as if the personal data had never been readable. The fold writes each item that the event names, even if the
 * item does not change, so that every replay writes the same items.
 */
export const forgetting = ({ partitions = (key) => [userPartition(key)], personal = {}, also }: Forgetting = {}) => {
  const kinds = Object.entries(personal)
  const withoutData = (item: Item, subject: string): Item =>
    withoutPersonalData(item, kinds.find(([prefix]) => item.SK.startsWith(prefix))?.[1] ?? {}, subject)
  const personalItems: PersonalItems = {
    partitions,
    hasPersonalData: (item, subject) =>
      (isTokenOf(item, personOf(subject)) && !isNumberedPart(subject)) || !sameItem(item, withoutData(item, subject)),
  }

  const personForgotten = (event: PersonForgotten, get: Get): Result => {
    const { data, meta } = event
    const subject = meta.subjectId ?? meta.key
    const ownPartitions = partitions(meta.key, subject)
    const named = new Map(
      data.items
        .filter(({ pk }) => ownPartitions.includes(pk))
        .map(({ pk, sk }) => [keyOf({ PK: pk, SK: sk }), { PK: pk, SK: sk }]),
    )
    const changesOf = (item: Item): readonly Change[] =>
      isToken(item) ? tokenForgotten(meta.key, item, isoOf(meta.occurredAt)) : [withoutData(bare(item), subject)]
    const changes = [...named.values()].flatMap((key) => get(key) ?? []).flatMap(changesOf)
    return { items: also === undefined ? changes : changedFurther(changes, get, (work) => also(work, event, subject)) }
  }
  return { personalItems, personForgotten }
}

/** True if the item is a token of this person. */
const isTokenOf = (item: Key, person: string): boolean => isToken(item) && item.PK === userPartition(person)

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
