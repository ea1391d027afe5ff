import { createHash } from 'node:crypto'
import type { Query } from '../../../projections/table.ts'
import { Fault } from '../../../schemas/fault.ts'
import type { Attributes } from './codec.ts'

/** A cursor contains the last key of a page and the hash of its query, so that `keyFromCursor` rejects the cursor of another query. */
export const cursorAfter = (query: Query, key: Attributes): string =>
  Buffer.from(
    JSON.stringify([
      bindingOf(query),
      ...Object.keys(key)
        .sort()
        .map((name) => [name, key[name]?.N === undefined ? key[name]?.S : Number(key[name].N)]),
    ]),
  ).toString('base64url')

export const keyFromCursor = (query: Query, names: readonly string[]): Attributes | undefined => {
  if (query.cursor === undefined) return undefined
  const [binding, ...members] = parsed(query.cursor)
  const key = new Map(members.filter(isMember))
  if (
    binding !== bindingOf(query) ||
    key.size !== members.length ||
    key.size !== names.length ||
    !names.every((name) => key.has(name))
  )
    throw badCursor()
  return Object.fromEntries(
    [...key].map(([name, value]) => [name, typeof value === 'number' ? { N: String(value) } : { S: value }]),
  )
}

const isMember = (member: unknown): member is [string, string | number] =>
  Array.isArray(member) &&
  member.length === 2 &&
  typeof member[0] === 'string' &&
  (typeof member[1] === 'number' || (typeof member[1] === 'string' && member[1] !== ''))

const parsed = (cursor: string): unknown[] => {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    return Array.isArray(value) ? value : []
  } catch {
    throw badCursor()
  }
}

const badCursor = (): Fault =>
  new Fault('bad-cursor', 'The cursor does not belong to this query. Send the request without a cursor.')

const bindingOf = ({ index, pk, prefix, from, to, reverse }: Query): string =>
  createHash('sha256')
    .update(JSON.stringify([index ?? null, pk, prefix ?? null, from ?? null, to ?? null, reverse ?? false]))
    .digest('base64url')
    .slice(0, 16)
