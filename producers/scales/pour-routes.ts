import type { Span } from '../../projections/scales/queries.ts'
import { LATEST } from '../../schemas/rfc3339.ts'
import { instantOf } from '../http/instants.ts'
import { listing } from '../http/lists.ts'
import { mistake } from '../http/problem.ts'
import { command, type Route } from '../http/route.ts'
import { bool, text, textOrNull } from '../http/schemas.ts'
import { kegOfLocation } from './keg-routes.ts'
import { LIMITS } from './limits.ts'
import { event, idSchema, queriesOf } from './params.ts'
import { atLocation, locOf } from './rights.ts'
import { pourAnswer } from './tap-views.ts'

const instant = { type: 'string', maxLength: 40, description: 'RFC 3339 with an offset.' } as const

export const instantsQuery = { from: instant, to: instant } as const

/** Returns the requested time range, with both ends inclusive. Default: from 1970 to `end`. */
export const instantsOf = ({ from, to }: { readonly from?: string; readonly to?: string }, end: number): Span => {
  const span = {
    from: from === undefined ? 0 : instantOf(from, 'querystring/from'),
    to: to === undefined ? end : instantOf(to, 'querystring/to'),
  }
  if (span.from > span.to)
    throw mistake(400, {
      pointer: 'querystring/to',
      code: 'bad-range',
      detail: 'querystring/to is before querystring/from. Swap them.',
    })
  return span
}

const listPours = listing({
  url: '/v1/locations/:loc/pours',
  operationId: 'listPours',
  summary: 'List the pours of a location, newest first.',
  query: instantsQuery,
  of: pourAnswer,
  page: async (call, paging) => queriesOf(call).pours(locOf(call), instantsOf(call.query, LATEST), paging),
})

const voidPours = command({
  method: 'POST',
  url: '/v1/locations/:loc/pours/void',
  operationId: 'voidPours',
  summary: 'Void all pours of a keg between two instants.',
  body: {
    type: 'object',
    additionalProperties: false,
    required: ['keg_id', 'from', 'to'],
    properties: { keg_id: idSchema, from: instant, to: instant, reason: LIMITS.voidReason },
  },
  status: 200,
  result: {
    type: 'object',
    required: ['keg_id', 'from', 'to', 'voided'],
    properties: { keg_id: text, from: text, to: text, reason: textOrNull, voided: bool },
  },
  decide: async (call) => {
    const { keg_id, reason = null } = call.body
    await kegOfLocation(call, keg_id)
    const [from, to] = [instantOf(call.body.from, '/from'), instantOf(call.body.to, '/to')]
    if (from > to) throw mistake(400, { pointer: '/to', code: 'bad-range', detail: '/to is before /from. Swap them.' })
    return { key: locOf(call), draft: event('PourVoided', { keg_id, from, to, reason }) }
  },
  answer: async ({ body: { keg_id, from, to, reason = null } }) => ({ keg_id, from, to, reason, voided: true }),
})

export const pourRoutes: readonly Route[] = atLocation([listPours, voidPours])
