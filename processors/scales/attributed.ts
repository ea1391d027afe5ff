import type { ReadingReported, TelemetryReported } from '../../schemas/generated/scales.ts'
import type { DeviceItem, TimelineItem } from '../../projections/scales/items.ts'
import { isId, timelines } from '../../projections/scales/keys.ts'
import type { Work } from '../access/work.ts'
import { isTime } from './fit.ts'
import { deviceSeen } from './held.ts'
import { tapAt } from './timeline.ts'

/** Where a reading was measured; `unfit` is none at all. One of a tap that was removed since has no state to change. */
export type Attributed =
  | { readonly what: 'read'; readonly device: DeviceItem; readonly tap: string; readonly timeline: TimelineItem; readonly isGone: boolean }
  | { readonly what: 'unfit' | 'unknown-device' | 'no-tap' }

/** By where its device stood when it was measured (S-a, S-i). State and series go by the same. */
export const attributed = (work: Work, { data, meta: { key: loc } }: ReadingReported | TelemetryReported): Attributed => {
  if (!isId(data.device_id) || !isTime(data.at)) return { what: 'unfit' }
  const device = deviceSeen(work, { loc, device: data.device_id, epoch: data.epoch, at: data.at })
  if (device === undefined) return { what: 'unknown-device' }
  const tap = tapAt(device._places, data.at)
  const timeline = tap === null ? undefined : work.get(timelines.key(loc, tap))
  if (tap === null || timeline === undefined) return { what: 'no-tap' }
  return { what: 'read', device, tap, timeline, isGone: timeline.since === null || data.at < timeline.since }
}
