import { Fault } from '../../schemas/fault.ts'
import { mistake } from './problem.ts'

export const pagingSchema = {
  limit: { type: 'string', maxLength: 20, description: 'A whole number from 1 to 200; default: 50.' },
  cursor: { type: 'string', minLength: 1, maxLength: 1_000, description: 'From the page before.' },
} as const

export interface Paged {
  readonly limit?: string
  readonly cursor?: string
}

const [DEFAULT_LIMIT, MOST] = [50, 200]

export const pagingOf = ({ limit, cursor }: Paged): { limit: number; cursor?: string } => ({
  limit: limit === undefined ? DEFAULT_LIMIT : limitOf(limit),
  ...(cursor === undefined ? {} : { cursor }),
})

const limitOf = (text: string): number => {
  const limit = Number(text)
  if (/^\d+$/.test(text) && limit >= 1 && limit <= MOST) return limit
  const code = /^-?\d+$/.test(text) ? 'out-of-range' : 'bad-format'
  throw mistake(400, { pointer: 'querystring/limit', code, detail: `querystring/limit: it must be a whole number from 1 to ${MOST}.` })
}

/** Throws: the cursor is not one that this list returned. */
export const badCursor = (): never => {
  throw new Fault('bad-cursor', 'The cursor is not one of this list; begin again without it.')
}

export const listOf = (items: Readonly<Record<string, unknown>>) => ({
  type: 'object',
  required: ['items'],
  properties: { items: { type: 'array', items }, cursor: { type: 'string', description: 'Send it as ?cursor= for the next page; absent on the last.' } },
}) as const
