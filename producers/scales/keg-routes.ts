import { msOf } from '../../projections/instant.ts'
import type { KegItem } from '../../projections/scales/items.ts'
import { kegIn, kegs, tares, timelines } from '../../projections/scales/keys.ts'
import { mistake } from '../http/problem.ts'
import { command, question, type Call, type Decision, type Route } from '../http/route.ts'
import {
  kegContents,
  correctionSchema,
  kegIdOfDayBefore,
  newKegId,
  newKegSchema,
  type KegContents,
} from './keg-bodies.ts'
import { event, instantSchema, kegOf, pastOf, tapOf } from './params.ts'
import { atLocation, locOf } from './rights.ts'
import { existingTap, noKegOnTap } from './tap-routes.ts'
import { kegAnswer } from './tap-views.ts'

type KegCall = Pick<Call, 'caller' | 'params'>

/** A keg of the location in the path. Throws `keg-not-found` for a keg of another location. */
export const kegOfLocation = async (call: KegCall, keg: string): Promise<KegItem> => {
  const found = await kegs.get(call.caller.reader, keg)
  if (found?.loc_id !== locOf(call)) throw kegOf.missing(keg)
  return found
}

const storedKeg = async (call: KegCall, { id = '' }: Pick<Decision, 'id'>) => {
  const { reader } = call.caller
  const keg = (await kegs.get(reader, id)) ?? (await kegs.get(reader, kegIdOfDayBefore(id)))
  return keg && kegAnswer.view(keg, await tares.get(reader, kegIn(keg)))
}

const tapKeg = command({
  method: 'POST',
  url: '/v1/locations/:loc/taps/:tap/keg',
  operationId: 'tapKeg',
  summary: 'Put a keg on the tap. It ends the keg that was on the tap.',
  body: newKegSchema,
  status: 201,
  result: kegAnswer.schema,
  decide: async (call) => {
    const [loc, tap] = [locOf(call), tapOf(call)]
    const keg_id = newKegId(call)
    const tapped_at = pastOf(call.body.tapped_at, '/tapped_at', call.now)
    return {
      key: loc,
      id: keg_id,
      draft: event('KegTapped', { tap, keg_id, ...(await kegContents(call, loc, call.body)), tapped_at }),
    }
  },
  answer: storedKeg,
})

const finishKeg = command({
  method: 'POST',
  url: '/v1/locations/:loc/taps/:tap/keg/finish',
  operationId: 'finishKeg',
  summary: 'Take the keg off the tap.',
  body: { type: ['object', 'null'], additionalProperties: false, properties: { at: instantSchema } },
  status: 200,
  result: kegAnswer.schema,
  decide: async (call) => {
    const { loc, tap } = await existingTap(call)
    // The last keg of the tap, even if it is finished already, so that the request can be repeated. A second event changes nothing.
    const keg_id = (await timelines.get(call.caller.reader, loc, tap))?.kegs.at(-1)?.keg_id
    if (keg_id === undefined) throw noKegOnTap(tap)
    return {
      key: loc,
      id: keg_id,
      draft: event('KegFinished', { tap, keg_id, at: pastOf(call.body?.at, '/at', call.now) }),
    }
  },
  answer: storedKeg,
})

const correctKeg = command({
  method: 'POST',
  url: '/v1/locations/:loc/taps/:tap/keg/correct',
  operationId: 'correctKeg',
  summary:
    'Correct the keg of a tap. From the given time on, all readings and pours of the wrong keg belong to the right one.',
  body: correctionSchema,
  status: 200,
  result: kegAnswer.schema,
  decide: async (call) => {
    const { loc, tap, config } = await existingTap(call)
    const keg_id = call.body.keg_id ?? config.keg_id
    if (keg_id === null) throw noKegOnTap(tap)
    const recorded = await kegOfLocation(call, keg_id)
    if (recorded.tap !== tap) throw kegOf.missing(keg_id)
    const from = call.body.from === undefined ? msOf(recorded.tapped_at) : pastOf(call.body.from, '/from', call.now)
    const right = await correctedKeg(call, loc)
    return { key: loc, id: right.new_keg_id, draft: event('KegAssignmentCorrected', { tap, keg_id, from, ...right }) }
  },
  answer: storedKeg,
})

interface RequestedCorrection {
  readonly new_keg_id?: string
  readonly beer_id?: string
  readonly keg_type?: string
  readonly full_lbs?: number
  readonly empty_lbs?: number
}

/** Returns the keg that a correction puts in the place of the wrong keg: an existing keg that the request names, or a new keg. */
const correctedKeg = async (
  call: Call<RequestedCorrection>,
  loc: string,
): Promise<KegContents & { readonly new_keg_id: string }> => {
  const { new_keg_id, beer_id, keg_type, ...weights } = call.body
  if (new_keg_id !== undefined) {
    const known = await kegOfLocation(call, new_keg_id)
    return {
      new_keg_id,
      beer_id: known.beer_id,
      keg_type: known.keg_type,
      full_lbs: known.full_lbs,
      empty_lbs: known.empty_lbs,
      sg: known.sg,
    }
  }
  if (beer_id === undefined || keg_type === undefined) {
    throw mistake(400, {
      pointer: beer_id === undefined ? '/beer_id' : '/keg_type',
      code: 'missing-field',
      detail: 'Send /new_keg_id, or /beer_id and /keg_type of the right keg.',
    })
  }
  return { new_keg_id: newKegId(call), ...(await kegContents(call, loc, { beer_id, keg_type, ...weights })) }
}

const oneKeg = question({
  method: 'GET',
  url: '/v1/locations/:loc/kegs/:keg',
  operationId: 'getKeg',
  summary: 'Get a keg of the location, with its tare.',
  result: kegAnswer.schema,
  answer: async (call) => {
    const id = kegOf(call)
    return kegAnswer.view(await kegOfLocation(call, id), await tares.get(call.caller.reader, id))
  },
})

export const kegRoutes: readonly Route[] = atLocation([tapKeg, finishKeg, correctKeg, oneKeg])
