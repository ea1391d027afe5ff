import type { DiscrepancyItem, KegItem, TapItem, TapStateItem, TareItem } from '../../projections/scales/items.ts'
import type { Pour } from '../../projections/scales/pours.ts'
import { isLevelMeasured } from '../../projections/scales/gallons.ts'
import { kegIn, taps } from '../../projections/scales/keys.ts'
import { bool, number, numberOrNull, text, textOrNull } from '../http/schemas.ts'
import { optional, orNull, shape } from '../http/shape.ts'

const measured = {
  ...bool,
  description:
    'The level was measured on the current keg of the tap. False after a keg swap until the first reading of the new keg, and while the tap has no keg.',
} as const

const rawState = shape<TapStateItem>()({ level_pct: optional(numberOrNull), gallons: optional(numberOrNull) })

/** Level and gallons are limited to what a keg can contain (S-j). `raw` contains the measured values. */
const stateAnswer = shape<TapStateItem, [keg: string | null]>()({
  level_pct: {
    ...numberOrNull,
    from: ({ level_pct }) => (level_pct === null ? null : Math.min(100, Math.max(0, level_pct))),
    description: '0 to 100. While level_measured is false, the last level of the previous keg.',
  },
  level_measured: { ...measured, from: isLevelMeasured },
  gallons: {
    ...numberOrNull,
    from: ({ gallons }) => (gallons === null ? null : Math.max(0, gallons)),
    description: 'At least 0. Null if the tap has no keg.',
  },
  weight_lbs: numberOrNull,
  updated_at: textOrNull,
  tare_status: textOrNull,
  pouring: { ...bool, description: 'True during a pour.' },
  raw: {
    ...rawState.schema,
    from: (state) => rawState.view(state),
    description: 'The measured values, without limits.',
  },
})

export const tapAnswer = shape<TapItem, [state: TapStateItem | undefined]>()({
  tap: { ...text, from: ({ SK }) => SK.slice(taps.prefix.length) },
  tap_id: text,
  beer_id: optional(textOrNull),
  keg_id: textOrNull,
  keg_type: optional(textOrNull),
  full_lbs: optional(numberOrNull),
  empty_lbs: optional(numberOrNull),
  sg: optional(numberOrNull),
  device_id: { ...textOrNull, from: ({ device_id = null }) => device_id },
  level_measured: { ...measured, from: ({ keg_id }, state) => state !== undefined && isLevelMeasured(state, keg_id) },
  state: {
    ...orNull(stateAnswer.schema),
    from: ({ keg_id }, state) => (state === undefined ? null : stateAnswer.view(state, keg_id)),
    description: 'Null before the first reading.',
  },
})

const tareAnswer = shape<TareItem>()({
  empty_offset: optional(numberOrNull),
  full_ref: optional(numberOrNull),
  tared_at: optional(text),
  tare_status: optional(text),
})

export const kegAnswer = shape<KegItem, [tare: TareItem | undefined]>()({
  id: { ...text, from: kegIn },
  loc_id: optional(text),
  tap: text,
  beer_id: text,
  keg_type: text,
  tapped_at: text,
  finished_at: optional(text),
  corrected_to: {
    ...text,
    optional: true,
    description: 'The id of the right keg, if this keg was recorded wrongly and corrected later.',
  },
  full_lbs: number,
  empty_lbs: number,
  sg: number,
  tare: { ...orNull(tareAnswer.schema), from: (_keg, tare) => (tare === undefined ? null : tareAnswer.view(tare)) },
})

const discrepancyAnswer = shape<DiscrepancyItem>()({
  since: optional(text),
  device_level_pct: optional(number),
  weight_level_pct: optional(number),
})

interface OnTap {
  readonly keg: KegItem | undefined
  readonly tare: TareItem | undefined
  readonly discrepancy: DiscrepancyItem | undefined
}

export const wholeTapAnswer = shape<TapItem, [state: TapStateItem | undefined, onTap: OnTap]>()({
  ...tapAnswer.fields,
  keg: {
    ...orNull(kegAnswer.schema),
    optional: true,
    from: (_tap, _state, { keg, tare }) => (keg === undefined ? null : kegAnswer.view(keg, tare)),
  },
  discrepancy: {
    ...discrepancyAnswer.schema,
    optional: true,
    from: (_tap, _state, { discrepancy }) => discrepancy && discrepancyAnswer.view(discrepancy),
    description:
      'Present if the level that the scale reports and the level from the weight differ by more than two points.',
  },
})

export const pourAnswer = shape<Pour>()({
  tap: text,
  keg_id: textOrNull,
  start: text,
  end: text,
  gallons: number,
  voided: { ...bool, from: ({ voided }) => voided === true },
})
