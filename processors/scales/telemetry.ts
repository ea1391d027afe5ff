import type {
  DeviceRegistered,
  DeviceReleased,
  DeviceStatusReported,
  ReadingReported,
  TareRecorded,
  TelemetryReported,
} from '../../schemas/generated/scales.ts'
import { bare } from '../../projections/item.ts'
import { NOTHING, type Get, type Result } from '../../projections/projection.ts'
import { isoOf, msOf } from '../../projections/instant.ts'
import type { TelemetryItem, TelemetryPointerItem } from '../../projections/scales/items.ts'
import { isId, telemetry, telemetryPointers } from '../../projections/scales/keys.ts'
import { hasApplied, withApplied } from '../folding/applied-events.ts'
import { isTime, numberOf } from './fit.ts'
import { isFolded, withFolded, type Reading } from './folded-sequences.ts'

/** The part of any message that describes the device itself. */
interface Report {
  readonly device_id: string
  readonly epoch: number
  readonly battery_v?: number | null
  readonly battery_pct?: number | null
  readonly tare_empty_offset?: number | null
  readonly tare_full_lbs?: number | null
  readonly fw: string | null
  readonly dropped: number | null
}

/** Readings and statuses update the battery and firmware of a device at most once in this time (S38). Telemetry messages always update them. */
const SPACING_MS = 300_000

export const readingTelemetry = ({ data, meta }: ReadingReported, get: Get): Result =>
  foldReport(data, { loc: meta.key, at: data.at }, get)
export const messageTelemetry = ({ data, meta }: TelemetryReported, get: Get): Result =>
  foldReport(data, { loc: meta.key, at: data.at, message: data }, get)
export const statusTelemetry = ({ data, meta }: DeviceStatusReported, get: Get): Result =>
  foldReport(data, { loc: meta.key, at: meta.occurredAt }, get)

/** The location and the time of a report. */
interface ReportContext {
  readonly loc: string
  readonly at: number
  /** The device, boot and sequence number of a telemetry message. Absent for readings and statuses. */
  readonly message?: Reading
}

const foldReport = (report: Report, context: ReportContext, get: Get): Result => {
  const { device_id, epoch } = report
  const { loc, at, message } = context
  if (!isId(device_id) || !isTime(at) || !Number.isInteger(epoch) || epoch < 1) return NOTHING
  const before = get(telemetry.key(device_id, epoch))
  const device = { loc, device_id, epoch, at }
  if (before === undefined)
    return {
      items: [
        withBattery(
          withImmediateFields(withMessage(emptyTelemetry(device), message), report, context),
          report,
          context,
        ),
        ...newPointers(device, get),
      ],
    }
  if (before._released || before.loc_id !== loc || (message !== undefined && isFolded(before._told ?? [], message)))
    return NOTHING
  const after = withImmediateFields(withMessage(before, message), report, context)
  if (hasDeviceState(report) && (message !== undefined || at >= msOf(before.updated_at) + SPACING_MS))
    return { items: [bare(withBattery(after, report, context))] }
  return after === before ? NOTHING : { items: [bare(after)] }
}

/** Remembers a telemetry message, so that a repeated message never replaces a newer message. */
const withMessage = (item: TelemetryItem, message: Reading | undefined): TelemetryItem =>
  message === undefined ? item : { ...item, _told: withFolded(item._told ?? [], message) }

/**
 * True if the report contains a battery or firmware. A report without them does not start the time (`SPACING_MS`) in
 * which later reports are ignored.
 */
const hasDeviceState = ({ battery_v = null, battery_pct = null, fw }: Report): boolean =>
  [battery_v, battery_pct, fw].some((value) => value !== null)

interface Device extends ReportContext {
  readonly device_id: string
  readonly epoch: number
}

const emptyTelemetry = ({ loc, device_id, epoch, at }: Device): TelemetryItem => ({
  ...telemetry.key(device_id, epoch),
  loc_id: loc,
  battery_v: null,
  updated_at: isoOf(at),
})

/**
 * The item in which the location stores the number of the device's claim (epoch). The folds of events that a person caused
 * read it, because these events contain no epoch. Empty if the item is up to date.
 */
const newPointers = ({ loc, device_id, epoch }: Omit<Device, 'at'>, get: Get): readonly TelemetryPointerItem[] => {
  const key = telemetryPointers.key(loc, device_id)
  const known = get<TelemetryPointerItem>(key)
  return known !== undefined && known.epoch >= epoch
    ? []
    : [{ ...key, epoch, ...(known?._heard && { _heard: known._heard }) }]
}

/** Sets battery and firmware, unless a newer report has set them. An item with a charge in percent is in the index of batteries (S37). */
const withBattery = (
  item: TelemetryItem,
  { battery_v = null, battery_pct = null, fw }: Report,
  { loc, at }: ReportContext,
): TelemetryItem => {
  const isNewest = at >= msOf(item.updated_at)
  const [volts, percent] = at < (item._battery_at ?? -1) ? [null, null] : [numberOf(battery_v), numberOf(battery_pct)]
  const charge = percent ?? item.battery_pct
  return {
    ...item,
    battery_v: volts ?? item.battery_v,
    ...(isNewest && { updated_at: isoOf(at) }),
    ...(isNewest && fw !== null && { fw }),
    ...((volts ?? percent) !== null && { _battery_at: at }),
    ...(charge !== undefined && { battery_pct: charge, battery_loc_id: loc }),
  }
}

/** Sets the tares and the number of lost events, which every report updates. Returns the same object if nothing is new. */
const withImmediateFields = (item: TelemetryItem, report: Report, context: ReportContext): TelemetryItem => {
  const { dropped } = report
  const after = withTares(item, report, context)
  return dropped === null || dropped === item.dropped || !isLater(context, item._dropped_at)
    ? after
    : { ...after, dropped, _dropped_at: context.at }
}

/** If two telemetry messages have the same time, the later one in the log counts. For other reports, the earlier one counts. */
const isLater = ({ at, message }: Pick<ReportContext, 'at' | 'message'>, known = -1): boolean =>
  at > known || (at === known && message !== undefined)

/** Sets the tares that the scale stores. Returns the same object if nothing is new. */
const withTares = (
  item: TelemetryItem,
  { tare_empty_offset = null, tare_full_lbs = null }: Pick<Report, 'tare_empty_offset' | 'tare_full_lbs'>,
  context: Pick<ReportContext, 'at' | 'message'>,
): TelemetryItem => {
  const [empty, full] = [numberOf(tare_empty_offset), numberOf(tare_full_lbs)]
  const after =
    empty === null || empty === item.tare_empty_offset || !isLater(context, item._empty_at)
      ? item
      : { ...item, tare_empty_offset: empty, _empty_at: context.at }
  return full === null || full === item.tare_full_lbs || !isLater(context, item._full_at)
    ? after
    : { ...after, tare_full_lbs: full, _full_at: context.at }
}

/** Stores a copy of a tare in the telemetry of its device, for diagnosis (S40). */
export const tareTelemetry = ({ data, meta }: TareRecorded, get: Get): Result => {
  if (data.device_id === null || !isId(data.device_id) || !isTime(data.at)) return NOTHING
  const pointer = get(telemetryPointers.key(meta.key, data.device_id))
  if (pointer === undefined) return NOTHING
  const device = { loc: meta.key, device_id: data.device_id, epoch: pointer.epoch, at: data.at }
  const before = get(telemetry.key(data.device_id, pointer.epoch)) ?? emptyTelemetry(device)
  const value = data.kind === 'empty' ? { tare_empty_offset: data.value_lbs } : { tare_full_lbs: data.value_lbs }
  const after = before._released ? before : withTares(before, value, data)
  return after === before ? NOTHING : { items: [bare(after)] }
}

export const registrationTelemetry = ({ data, meta }: DeviceRegistered, get: Get): Result => {
  if (!isId(data.device_id) || !Number.isInteger(data.epoch) || data.epoch < 1) return NOTHING
  return { items: newPointers({ ...data, loc: meta.key }, get) }
}

/** Removes the device from the index of batteries. Later reports of this claim change nothing. */
export const releaseTelemetry = (event: DeviceReleased, get: Get): Result => {
  const {
    data: { device_id },
    meta: { key: loc, occurredAt: at },
  } = event
  const pointer = isId(device_id) && isTime(at) ? get(telemetryPointers.key(loc, device_id)) : undefined
  if (pointer === undefined || hasApplied(pointer._heard, event)) return NOTHING
  const before =
    get(telemetry.key(device_id, pointer.epoch)) ?? emptyTelemetry({ loc, device_id, epoch: pointer.epoch, at })
  const { battery_loc_id, ...rest } = bare(before)
  return {
    items: [
      { ...rest, _released: true } satisfies TelemetryItem,
      { ...bare(pointer), _heard: withApplied(pointer._heard, event) } satisfies TelemetryPointerItem,
    ],
  }
}
