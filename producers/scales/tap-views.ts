import type { DiscrepancyItem, KegItem, TapStateItem, TareItem } from '../../projections/scales/items.ts'
import type { Pour } from '../../projections/scales/pours.ts'
import { isLevelMeasured } from '../../projections/scales/gallons.ts'
import { kegIn, taps } from '../../projections/scales/keys.ts'
import type { Tap } from '../../projections/scales/queries.ts'
import { bool, number, numberOrNull, text, textOrNull } from '../http/schemas.ts'

const rawSchema = { type: 'object', description: 'As measured, not clamped.', properties: { level_pct: numberOrNull, gallons: numberOrNull } } as const

const measured = { ...bool, description: 'The level was measured on the keg that is on the tap now. False after a keg swap until the first reading of the new keg, and while no keg is on the tap.' } as const

const stateSchema = {
  type: 'object',
  required: ['level_pct', 'level_measured', 'gallons', 'weight_lbs', 'updated_at', 'tare_status', 'pouring', 'raw'],
  properties: {
    level_pct: { ...numberOrNull, description: '0 to 100. The level of the keg before this one while level_measured is false.' },
    level_measured: measured,
    gallons: { ...numberOrNull, description: 'At least 0; null where no keg is on the tap.' },
    weight_lbs: numberOrNull,
    updated_at: textOrNull,
    tare_status: textOrNull,
    pouring: { ...bool, description: 'A pour goes on.' },
    raw: rawSchema,
  },
} as const

/** Level and gallons are shown within the limits of a keg (S-j). `raw` contains the measured values. */
const stateView = ({ level_pct, gallons, weight_lbs, updated_at, tare_status, pouring }: TapStateItem, level_measured: boolean) => ({
  level_pct: level_pct === null ? null : Math.min(100, Math.max(0, level_pct)),
  level_measured,
  gallons: gallons === null ? null : Math.max(0, gallons),
  weight_lbs,
  updated_at,
  tare_status,
  pouring,
  raw: { level_pct, gallons },
})

const tapProperties = {
  tap: text,
  tap_id: text,
  beer_id: textOrNull,
  keg_id: textOrNull,
  keg_type: textOrNull,
  full_lbs: numberOrNull,
  empty_lbs: numberOrNull,
  sg: numberOrNull,
  device_id: textOrNull,
  level_measured: measured,
  state: { ...stateSchema, type: ['object', 'null'], description: 'null before the first reading.' },
} as const

export const tapSchema = { type: 'object', required: ['tap', 'tap_id', 'keg_id', 'device_id', 'level_measured', 'state'], properties: tapProperties } as const

export const tapView = ({ config, state }: Tap) => {
  const level_measured = state !== undefined && isLevelMeasured(state, config.keg_id)
  return {
    tap: config.SK.slice(taps.prefix.length),
    tap_id: config.tap_id,
    beer_id: config.beer_id,
    keg_id: config.keg_id,
    keg_type: config.keg_type,
    full_lbs: config.full_lbs,
    empty_lbs: config.empty_lbs,
    sg: config.sg,
    device_id: config.device_id ?? null,
    level_measured,
    state: state === undefined ? null : stateView(state, level_measured),
  }
}

const tareSchema = {
  type: ['object', 'null'],
  properties: { empty_offset: numberOrNull, full_ref: numberOrNull, tared_at: text, tare_status: text },
} as const

const tareView = (tare: TareItem | undefined) =>
  tare === undefined ? null : { empty_offset: tare.empty_offset, full_ref: tare.full_ref, tared_at: tare.tared_at, tare_status: tare.tare_status }

export const kegSchema = {
  type: 'object',
  required: ['id', 'tap', 'beer_id', 'keg_type', 'tapped_at', 'full_lbs', 'empty_lbs', 'sg', 'tare'],
  properties: {
    id: text,
    loc_id: text,
    tap: text,
    beer_id: text,
    keg_type: text,
    tapped_at: text,
    finished_at: text,
    corrected_to: { ...text, description: 'The keg that it was, as somebody found out later.' },
    full_lbs: number,
    empty_lbs: number,
    sg: number,
    tare: tareSchema,
  },
} as const

export const kegView = (keg: KegItem, tare: TareItem | undefined) => ({
  id: kegIn(keg),
  loc_id: keg.loc_id,
  tap: keg.tap,
  beer_id: keg.beer_id,
  keg_type: keg.keg_type,
  tapped_at: keg.tapped_at,
  finished_at: keg.finished_at,
  corrected_to: keg.corrected_to,
  full_lbs: keg.full_lbs,
  empty_lbs: keg.empty_lbs,
  sg: keg.sg,
  tare: tareView(tare),
})

export const oneTapSchema = {
  ...tapSchema,
  properties: {
    ...tapProperties,
    keg: { ...kegSchema, type: ['object', 'null'] },
    discrepancy: {
      type: 'object',
      description: 'The level that the scale tells and the one that the weight gives differ by more than two points.',
      properties: { since: text, device_level_pct: number, weight_level_pct: number },
    },
  },
} as const

export const discrepancyView = ({ since, device_level_pct, weight_level_pct }: DiscrepancyItem) => ({ since, device_level_pct, weight_level_pct })

export const pourSchema = {
  type: 'object',
  required: ['tap', 'keg_id', 'start', 'end', 'gallons', 'voided'],
  properties: { tap: text, keg_id: textOrNull, start: text, end: text, gallons: number, voided: bool },
} as const

export const pourView = ({ tap, keg_id, start, end, gallons, voided }: Pour) => ({ tap, keg_id, start, end, gallons, voided: voided === true })
