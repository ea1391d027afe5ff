import type { ReadingReported, TelemetryReported } from '../../schemas/generated/scales.ts'
import type { DeviceItem, TimelineItem } from '../../projections/scales/items.ts'
import { isId, timelines } from '../../projections/scales/keys.ts'
import type { Work } from '../folding/work.ts'
import { isTime } from './fit.ts'
import { findOrRegisterDevice } from './owned-devices.ts'
import { tapAt } from './timeline.ts'

/**
 * The tap on which a reading was measured, or the reason why no tap was found. `unfit`: the ids or the time are invalid.
 * `isGone`: the tap was removed after the measurement, so the reading changes no state.
 */
export type Attribution =
  | {
      readonly kind: 'read'
      readonly device: DeviceItem
      readonly tap: string
      readonly timeline: TimelineItem
      readonly isGone: boolean
    }
  | { readonly kind: 'unfit' | 'unknown-device' | 'no-tap' }

/**
 * Finds the tap to which the device was assigned when it measured the reading (S-a, S-i). The scales domain and the
 * domain of its series both use this function.
 */
export const attributeReading = (
  work: Work,
  { data, meta: { key: loc } }: ReadingReported | TelemetryReported,
): Attribution => {
  if (!isId(data.device_id) || !isTime(data.at)) return { kind: 'unfit' }
  const device = findOrRegisterDevice(work, { loc, device: data.device_id, epoch: data.epoch, at: data.at })
  if (device === undefined) return { kind: 'unknown-device' }
  const tap = tapAt(device._places, data.at)
  const timeline = tap === null ? undefined : work.get(timelines.key(loc, tap))
  if (tap === null || timeline === undefined) return { kind: 'no-tap' }
  return { kind: 'read', device, tap, timeline, isGone: timeline.since === null || data.at < timeline.since }
}
