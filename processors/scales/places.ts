import type { DeviceItem, TapItem } from '../../projections/scales/items.ts'
import { taps } from '../../projections/scales/keys.ts'
import type { Work } from '../access/work.ts'
import { resolve } from './alerts.ts'
import { leavePour } from './retell.ts'
import { awaitNothing, broken } from './silence.ts'
import { placed, tapNow } from './timeline.ts'

/** The device leaves the tap it stands under: nobody waits for it any more, and its alerts end, and what it saw of a pour. */
export const leave = (work: Work, item: DeviceItem, at: number): DeviceItem => {
  const _places = placed(item._places, null, at)
  if (_places === item._places) return item
  const tap = item.tap === null ? undefined : work.get(taps.key(item.loc_id, item.tap))
  const { _low_battery, ...rest } = broken(work, { ...item, _places, tap: tapNow(_places) }, at)
  if (_low_battery) resolve(work, { loc: item.loc_id, type: 'low_battery', entity: `DEVICE#${item.device_id}` }, at)
  if (item.tap !== null && rest.tap !== item.tap) leavePour(work, { loc: item.loc_id, tap: item.tap }, true)
  if (rest.tap === null) awaitNothing(work, item.device_id)
  if (tap?.device_id === item.device_id && rest.tap !== item.tap) work.put(withoutDevice(tap))
  work.put(rest)
  return rest
}

const withoutDevice = ({ device_id, ...tap }: TapItem): TapItem => ({ ...tap, ...(device_id !== undefined && { _left: device_id }) })
