import type {
  CalibrationItem,
  QuarantineCountItem,
  QuarantinedItem,
  TelemetryItem,
} from '../../projections/scales/items.ts'
import type { Device } from '../../projections/scales/queries.ts'
import { integer, number, numberOrNull, text, textOrNull } from '../http/schemas.ts'
import { optional, orNull, shape } from '../http/shape.ts'

const telemetryAnswer = shape<TelemetryItem>()({
  battery_v: optional(numberOrNull),
  battery_pct: { ...numberOrNull, optional: true, from: ({ battery_pct = null }) => battery_pct },
  updated_at: optional(text),
  tare_empty_offset: optional(number),
  tare_full_lbs: optional(number),
})

export const calibrationAnswer = shape<CalibrationItem>()({
  factor: number,
  offset: number,
  calibrated_at: text,
  calibrated_by: optional(textOrNull),
})

/** A device as answers contain it. Between its claim and its registration, a device has no `meta` for a moment. */
export const deviceAnswer = shape<Device & { readonly device: string; readonly loc: string }>()({
  id: { ...text, from: ({ device }) => device },
  loc_id: { ...text, from: ({ loc }) => loc },
  status: {
    type: 'string',
    enum: ['claimed', 'registered', 'online', 'offline', 'released'],
    from: ({ meta }) => meta?.status ?? 'claimed',
  },
  tap: { ...textOrNull, from: ({ meta }) => meta?.tap ?? null },
  registered_at: { ...text, optional: true, from: ({ meta }) => meta?.registered_at },
  status_at: { ...text, optional: true, from: ({ meta }) => meta?.status_at },
  boot: { ...text, optional: true, from: ({ meta }) => meta?.boot },
  fw: { ...text, optional: true, from: ({ meta, telemetry }) => meta?.fw ?? telemetry?.fw },
  dropped: {
    ...integer,
    optional: true,
    from: ({ meta, telemetry }) => telemetry?.dropped ?? meta?.dropped,
    description: 'Events that the device has lost since it booted, because its buffer was full.',
  },
  telemetry: {
    ...orNull(telemetryAnswer.schema),
    from: ({ telemetry }) => (telemetry === undefined ? null : telemetryAnswer.view(telemetry)),
  },
  calibration: {
    ...orNull(calibrationAnswer.schema),
    from: ({ calibration }) => (calibration === undefined ? null : calibrationAnswer.view(calibration)),
  },
})

export const quarantinedAnswer = shape<QuarantinedItem>()({
  boot: textOrNull,
  seq: { type: ['integer', 'null'] },
  at: text,
  reason: text,
  detail: text,
  reading: { ...text, description: 'The message or event of the device, as text.' },
})

export const quarantineCountAnswer = shape<QuarantineCountItem | undefined>()({
  total: { ...integer, from: (count) => count?.total ?? 0 },
  reasons: { type: 'object', additionalProperties: integer, from: (count) => count?.reasons ?? {} },
})
