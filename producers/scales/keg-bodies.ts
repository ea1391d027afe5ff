import { dateOf, dayNumberOf, utcDateOf } from '../../projections/instant.ts'
import { referenceWeights } from '../../projections/scales/keg-types.ts'
import { mistake } from '../http/problem.ts'
import type { Call } from '../http/route.ts'
import { derivedId } from '../ids.ts'
import { LIMITS } from './limits.ts'
import { beerOf, idSchema, instantSchema, kegTypePattern, queriesOf } from './params.ts'
import { beerKegs } from '../../projections/scales/keys.ts'

const contents = {
  beer_id: idSchema,
  keg_type: { type: 'string', pattern: kegTypePattern },
  full_lbs: { ...LIMITS.kegLbs, description: 'Default: the stored weight of the beer in this keg type.' },
  empty_lbs: { ...LIMITS.kegLbs, description: 'Default: the stored weight of the beer in this keg type.' },
} as const

export const newKegSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['beer_id', 'keg_type'],
  properties: { ...contents, tapped_at: instantSchema },
} as const

export const correctionSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    keg_id: { ...idSchema, description: 'The wrongly recorded keg. Default: the keg on the tap.' },
    from: { ...instantSchema, description: 'When the right keg was tapped. Default: when the wrong keg was tapped.' },
    new_keg_id: {
      ...idSchema,
      description: 'The id of the right keg, if it is recorded already. Otherwise send beer_id and keg_type.',
    },
    ...contents,
  },
} as const

export interface KegContents {
  readonly beer_id: string
  readonly keg_type: string
  readonly full_lbs: number
  readonly empty_lbs: number
  readonly sg: number
}

type RequestedKeg = Pick<KegContents, 'beer_id' | 'keg_type'> & {
  readonly full_lbs?: number
  readonly empty_lbs?: number
}

/** Adds the current gravity and weights of the beer to a keg. The event contains these values, so a later change of the beer changes no keg (S56). */
export const kegContents = async (
  call: Pick<Call, 'caller'>,
  loc: string,
  requested: RequestedKeg,
): Promise<KegContents> => {
  const queries = queriesOf(call)
  const { beer_id, keg_type } = requested
  const beer = await queries.beerFor(loc, beer_id)
  if (beer === undefined) throw beerOf.missing(beer_id)
  const known = (await beerKegs.get(call.caller.reader, beer.loc_id, beer_id, keg_type)) ?? referenceWeights(keg_type)
  const [full_lbs, empty_lbs] = [requested.full_lbs ?? known?.full_lbs, requested.empty_lbs ?? known?.empty_lbs]
  if (full_lbs === undefined || empty_lbs === undefined) {
    throw mistake(400, {
      pointer: '/keg_type',
      code: 'keg-type-unknown',
      detail: `The weights of ${beer_id} in a ${keg_type} are not known. Send full_lbs and empty_lbs, or PUT them to /v1/beers/${beer_id}/kegs/${keg_type}.`,
    })
  }
  checkWeights({ full_lbs, empty_lbs })
  return { beer_id, keg_type, full_lbs, empty_lbs, sg: beer.specific_gravity }
}

export const checkWeights = ({
  full_lbs,
  empty_lbs,
}: {
  readonly full_lbs: number
  readonly empty_lbs: number
}): void => {
  if (full_lbs <= empty_lbs)
    throw mistake(400, {
      pointer: '/full_lbs',
      code: 'out-of-range',
      detail: '/full_lbs must be more than /empty_lbs.',
    })
}

const DIGITS = 10
const CHOICES = 36n ** BigInt(DIGITS)

/** `keg-20261116-4f0k2m9x1z`: the day and 51 bits of the request's id. A repeated request gives the same id (S-l). */
export const newKegId = ({ newId, now }: Pick<Call, 'newId' | 'now'>): string => {
  const number = BigInt(`0x${derivedId('keg', newId()).replaceAll('-', '')}`) % CHOICES
  return `keg-${compact(utcDateOf(now))}-${number.toString(36).padStart(DIGITS, '0')}`
}

/** Returns the id of the same keg if the first attempt of its request was on the day before. The id of a keg contains the day. */
export const kegIdOfDayBefore = (keg: string): string => {
  const [, year = '', month = '', day = '', rest = ''] = /^keg-(\d{4})(\d\d)(\d\d)-(\w+)$/.exec(keg) ?? []
  return `keg-${compact(dateOf((dayNumberOf(`${year}-${month}-${day}`) ?? 0) - 1))}-${rest}`
}

const compact = (date: string): string => date.replaceAll('-', '')
