import { mistake } from './problem.ts'

export const pagingSchema = {
  limit: { type: 'string', pattern: '^-?[0-9]{1,9}$', description: 'From 1 to 200; 50 unless told.' },
  cursor: { type: 'string', minLength: 1, maxLength: 1_000, description: 'From the page before.' },
} as const

export interface Paged {
  readonly limit?: string
  readonly cursor?: string
}

const [DEFAULT_LIMIT, MOST] = [50, 200]

export const pagingOf = ({ limit, cursor }: Paged): { limit: number; cursor?: string } => ({
  limit: limit === undefined ? DEFAULT_LIMIT : limitOf(Number(limit)),
  ...(cursor === undefined ? {} : { cursor }),
})

const limitOf = (limit: number): number => {
  if (limit >= 1 && limit <= MOST) return limit
  throw mistake(400, { pointer: 'querystring/limit', code: 'out-of-range', detail: `querystring/limit must be from 1 to ${MOST}.` })
}

export const listOf = (items: Readonly<Record<string, unknown>>) => ({
  type: 'object',
  required: ['items'],
  properties: { items: { type: 'array', items }, cursor: { type: 'string', description: 'Send it as ?cursor= for the next page; absent on the last.' } },
}) as const
