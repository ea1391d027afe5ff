import type { CalibrationItem, QuarantineCountItem, QuarantinedItem, TelemetryItem } from '../../projections/scales/items.ts'
import type { Device } from '../../projections/scales/queries.ts'
import { integer, number, numberOrNull, text, textOrNull } from '../http/schemas.ts'

const telemetrySchema = {
  type: ['object', 'null'],
  properties: { battery_v: numberOrNull, battery_pct: numberOrNull, updated_at: text, tare_empty_offset: number, tare_full_lbs: number },
} as const

const telemetryView = ({ battery_v, battery_pct, updated_at, tare_empty_offset, tare_full_lbs }: TelemetryItem) =>
  ({ battery_v, battery_pct: battery_pct ?? null, updated_at, tare_empty_offset, tare_full_lbs })

export const calibrationSchema = {
  type: 'object',
  required: ['factor', 'offset', 'calibrated_at'],
  properties: { factor: number, offset: number, calibrated_at: text, calibrated_by: textOrNull },
} as const

export const calibrationView = ({ factor, offset, calibrated_at, calibrated_by }: CalibrationItem) => ({ factor, offset, calibrated_at, calibrated_by })

export const deviceSchema = {
  type: 'object',
  required: ['id', 'loc_id', 'status', 'tap', 'telemetry', 'calibration'],
  properties: {
    id: text,
    loc_id: text,
    status: { type: 'string', enum: ['claimed', 'registered', 'online', 'offline', 'released'] },
    tap: textOrNull,
    registered_at: text,
    status_at: text,
    boot: text,
    fw: text,
    dropped: { ...integer, description: 'Events that the device lost for lack of room since it booted.' },
    telemetry: telemetrySchema,
    calibration: { ...calibrationSchema, type: ['object', 'null'] },
  },
} as const

/** Between the claim and its registration, which follows at once, a device is only claimed. */
export const deviceView = (id: string, loc_id: string, { meta, telemetry, calibration }: Device) => ({
  id,
  loc_id,
  status: meta?.status ?? 'claimed',
  tap: meta?.tap ?? null,
  registered_at: meta?.registered_at,
  status_at: meta?.status_at,
  boot: meta?.boot,
  fw: meta?.fw ?? telemetry?.fw,
  dropped: telemetry?.dropped ?? meta?.dropped,
  telemetry: telemetry === undefined ? null : telemetryView(telemetry),
  calibration: calibration === undefined ? null : calibrationView(calibration),
})

export const quarantinedSchema = {
  type: 'object',
  required: ['boot', 'seq', 'at', 'reason', 'detail', 'reading'],
  properties: { boot: textOrNull, seq: { type: ['integer', 'null'] }, at: text, reason: text, detail: text, reading: { ...text, description: 'What was said.' } },
} as const

export const quarantinedView = ({ boot, seq, at, reason, detail, reading }: QuarantinedItem) => ({ boot, seq, at, reason, detail, reading })

export const countSchema = { type: 'object', required: ['total', 'reasons'], properties: { total: integer, reasons: { type: 'object', additionalProperties: integer } } } as const

export const countView = (count: QuarantineCountItem | undefined) => ({ total: count?.total ?? 0, reasons: count?.reasons ?? {} })
