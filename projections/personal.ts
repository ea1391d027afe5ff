import { isNumberedPart } from './subject.ts'
import type { Item, Value } from './item.ts'

/**
 * Declares the person of the log key as the owner of personal data, in a domain whose log keys are people. Data of a numbered part of a person
 * needs an attribute with the subject.
 */
export const KEY = 'KEY'

type Owner<I> = (keyof I & string) | typeof KEY
type Inside<V> = V extends readonly (infer E)[] ? E : V

/**
 * Declares the attributes of an item that contain personal data. Each attribute names the attribute with the id of
 * the person, or KEY: `{ payerName: 'payerId' }`. An object or a list is declared with the attributes inside it. When
 * the person is forgotten, the attribute becomes null. With a `?` after the owner, the attribute is removed instead.
 */
export type PersonalOf<I> = {
  readonly [A in keyof I]?: [Extract<I[A], string>] extends [never]
    ? PersonalOf<Inside<NonNullable<I[A]>>>
    : Owner<I> | `${Owner<I>}?`
}

export interface Personal {
  readonly [attribute: string]: string | Personal
}

/** The declarations of a domain's items, by the beginning of their sort keys. */
export type PersonalByKind = { readonly [prefix: string]: Personal }

type Members = { readonly [name: string]: Value | undefined }

/** The item without the personal data of this person. */
export const withoutPersonalData = (item: Item, personal: Personal, subject: string): Item =>
  cleared(item, personal, subject) as Item

const cleared = (item: Members, personal: Personal, subject: string): Members => {
  const left: { [name: string]: Value | undefined } = { ...item }
  for (const [name, owner] of Object.entries(personal)) {
    const value = item[name]
    if (typeof owner === 'object') {
      if (Array.isArray(value)) left[name] = value.map((part) => cleared(part as Members, owner, subject))
      else if (typeof value === 'object' && value !== null) left[name] = cleared(value as Members, owner, subject)
    } else if (typeof value === 'string' && isOwned(item, owner.replace('?', ''), subject)) {
      if (owner.endsWith('?')) delete left[name]
      else left[name] = null
    }
  }
  return left
}

const isOwned = (item: Members, owner: string, subject: string): boolean =>
  owner === KEY ? !isNumberedPart(subject) : item[owner] === subject
