import type { XStatic } from 'typebox/schema'
import type { Paging } from '../../projections/entity.ts'
import type { Page } from '../../projections/table.ts'
import { Fault } from '../../schemas/fault.ts'
import { mistake } from './problem.ts'
import { question, type Call, type JsonSchema, type Question } from './route.ts'

export const pagingSchema = {
  limit: { type: 'string', maxLength: 20, description: 'A whole number from 1 to 200; default: 50.' },
  cursor: { type: 'string', minLength: 1, maxLength: 1_000, description: 'The cursor of the previous page.' },
} as const

export interface Paged {
  readonly limit?: string
  readonly cursor?: string
}

const [DEFAULT_LIMIT, MOST] = [50, 200]

export const pagingOf = ({ limit, cursor }: Paged): Paging => ({
  limit: limit === undefined ? DEFAULT_LIMIT : limitOf(limit),
  ...(cursor === undefined ? {} : { cursor }),
})

const limitOf = (text: string): number => {
  const limit = Number(text)
  if (/^\d+$/.test(text) && limit >= 1 && limit <= MOST) return limit
  const code = /^-?\d+$/.test(text) ? 'out-of-range' : 'bad-format'
  throw mistake(400, {
    pointer: 'querystring/limit',
    code,
    detail: `querystring/limit must be a whole number from 1 to ${MOST}.`,
  })
}

/** Throws `bad-cursor`, for a cursor that this list did not return. */
export const badCursor = (): never => {
  throw new Fault('bad-cursor', 'The cursor does not belong to this list. Start again without it.')
}

export const listOf = (items: Readonly<Record<string, unknown>>) =>
  ({
    type: 'object',
    required: ['items'],
    properties: {
      items: { type: 'array', items },
      cursor: { type: 'string', description: 'Send it as ?cursor= to get the next page. Absent on the last page.' },
    },
  }) as const

type Properties = Readonly<Record<string, JsonSchema>>

interface Listing<I, P extends Properties, R extends readonly string[]> extends Omit<
  Question,
  'method' | 'query' | 'result' | 'answer' | 'document'
> {
  /** The query parameters in addition to limit and cursor. `required`: the names of the parameters that a request must contain. */
  readonly query?: P
  readonly required?: R
  readonly of: { readonly schema: JsonSchema; readonly view: (item: I) => unknown }
  readonly page: (
    call: Call<unknown, XStatic<{ type: 'object'; properties: P; required: R }>>,
    paging: Paging,
  ) => Promise<Page<I>>
}

/** Declares a route that lists items page by page. `of`: the shape of an item. */
export const listing = <
  I,
  const P extends Properties = Readonly<Record<never, JsonSchema>>,
  const R extends readonly string[] = [],
>({
  query,
  required,
  of,
  page,
  ...described
}: Listing<I, P, R>): Question =>
  question({
    ...described,
    method: 'GET',
    query: {
      type: 'object',
      additionalProperties: false,
      ...(required && { required }),
      properties: { ...query, ...pagingSchema },
    },
    result: listOf(of.schema),
    answer: async (call) => {
      const { items, ...rest } = await page(call as Parameters<typeof page>[0], pagingOf(call.query as Paged))
      return { items: items.map((item) => of.view(item)), ...rest }
    },
  })
