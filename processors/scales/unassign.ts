import type { DeviceItem, TapItem } from '../../projections/scales/items.ts'
import { taps } from '../../projections/scales/keys.ts'
import type { Work } from '../folding/work.ts'
import { resolve } from './alerts.ts'
import { endUnobservedPour } from './timeline-update.ts'
import { disarmSilenceTimer, endSilence } from './silence.ts'
import { withAssignment, tapNow } from './timeline.ts'

/**
 * Ends the device's assignment to its tap: removes its silence timer, ends its alerts, and ends the pour that it
 * measured. Returns the changed device, or the same object if the device has no tap.
 */
export const unassignDevice = (work: Work, item: DeviceItem, at: number): DeviceItem => {
  const _places = withAssignment(item._places, null, at)
  if (_places === item._places) return item
  const tap = item.tap === null ? undefined : work.get(taps.key(item.loc_id, item.tap))
  const { _low_battery, ...rest } = endSilence(work, { ...item, _places, tap: tapNow(_places) }, at)
  if (_low_battery) resolve(work, { loc: item.loc_id, type: 'low_battery', entity: `DEVICE#${item.device_id}` }, at)
  if (item.tap !== null && rest.tap !== item.tap) endUnobservedPour(work, { loc: item.loc_id, tap: item.tap }, true)
  if (rest.tap === null) disarmSilenceTimer(work, item.device_id)
  if (tap?.device_id === item.device_id && rest.tap !== item.tap) work.put(withoutDevice(tap))
  work.put(rest)
  return rest
}

const withoutDevice = ({ device_id, ...tap }: TapItem): TapItem => ({
  ...tap,
  ...(device_id !== undefined && { _left: device_id }),
})
