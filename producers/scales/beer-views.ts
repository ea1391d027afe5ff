import type { BeerItem, BeerKegItem, LibraryItem } from '../../projections/scales/items.ts'
import { number, numberOrNull, text, textOrNull } from '../http/schemas.ts'
import { arrayOf, optional, shape } from '../http/shape.ts'

const id = { ...text, from: ({ beer_id }: Pick<BeerItem, 'beer_id'>) => beer_id } as const

export const libraryAnswer = shape<LibraryItem>()({
  id,
  loc_id: optional(textOrNull),
  name: text,
  style: optional(textOrNull),
})

/** Returns the origin of the full and empty weight: reference data, one measurement (`set`), or the average of several (`calculated`) (S42). */
const badgeOf = ({ measured_at, measured_count = 0 }: BeerKegItem): 'default' | 'set' | 'calculated' =>
  measured_at === undefined ? 'default' : measured_count > 1 ? 'calculated' : 'set'

const kegWeights = shape<BeerKegItem>()({
  keg_type: text,
  gallons: number,
  full_lbs: number,
  empty_lbs: number,
  measured_at: optional(text),
  measured_count: optional(number),
  badge: {
    type: 'string',
    enum: ['default', 'set', 'calculated'],
    from: badgeOf,
    description:
      'The origin of the weights. default: reference data. set: measured once. calculated: the average of several measurements.',
  },
})

export const beerAnswer = shape<BeerItem, [kegs: readonly BeerKegItem[]]>()({
  id,
  loc_id: textOrNull,
  name: text,
  style: textOrNull,
  specific_gravity: numberOrNull,
  kegs: { ...arrayOf(kegWeights.schema), from: (_beer, kegs) => kegs.map((keg) => kegWeights.view(keg)) },
})
