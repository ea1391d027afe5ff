import { keyOf, type Item, type Key } from '../../projections/item.ts'
import type {
  AlertItem,
  DeviceItem,
  PourItem,
  QuarantineCountItem,
  TapItem,
  TapStateItem,
  TimelineItem,
} from '../../projections/scales/items.ts'
import {
  activeAlerts,
  devicePointers,
  devices,
  discrepancies,
  graces,
  pours,
  quarantined,
  quarantinedAt,
  taps,
  tapStates,
} from '../../projections/scales/keys.ts'

type Wrong = (detail: string) => void
type Items = ReadonlyMap<string, Item>

const TIMELINE = 'TIMELINE#TAP#'

/** Checks the invariants of the items of all locations. */
export const checkBars = (items: Items, wrong: Wrong): void => {
  const has = <I extends Item>(key: Key) => items.get(keyOf(key)) as I | undefined
  const timelines = [...items.values()].filter(({ SK }) => SK.startsWith(TIMELINE)) as TimelineItem[]
  for (const timeline of timelines) {
    const [loc, tap] = [timeline.PK.slice('LOCATION#'.length), timeline.SK.slice(TIMELINE.length)]
    checkSpans(timeline, wrong)
    if (timeline.since === null) checkRemoved(items, { loc, tap }, wrong)
    else checkTap(has, { loc, tap, timeline }, wrong)
  }
  checkKegs(timelines, wrong)
  for (const item of items.values()) {
    if (item.PK.startsWith('DEVICE#') && item.SK === 'META') checkDevice(has, item as DeviceItem, wrong)
    if (item.SK.startsWith(pours.prefix)) checkPour(item as PourItem, wrong)
    if (item.SK.startsWith(activeAlerts.prefix)) checkPending(has, item as AlertItem, wrong)
    if (item.SK.startsWith('COUNT#DEVICE#')) checkCount(items, item as QuarantineCountItem, wrong)
  }
}

/** Checks that a tap has at most one keg at any time. */
const checkSpans = ({ PK, SK, kegs }: TimelineItem, wrong: Wrong) => {
  for (const [index, { from, to }] of kegs.entries()) {
    const next = kegs[index + 1]
    if ((to ?? Infinity) < from || (next !== undefined && (to ?? Infinity) > next.from))
      wrong(`${PK} ${SK} has two kegs at once: ${JSON.stringify(kegs)}`)
  }
}

/** Checks that a keg is on at most one tap. */
const checkKegs = (timelines: readonly TimelineItem[], wrong: Wrong) => {
  const tappedKegs = timelines.flatMap(({ kegs }) => kegs.filter(({ to }) => to === null).map(({ keg_id }) => keg_id))
  if (new Set(tappedKegs).size !== tappedKegs.length) wrong(`a keg is on two taps: ${tappedKegs.join(', ')}`)
}

interface Tap {
  readonly loc: string
  readonly tap: string
}

/** Checks that only the history of a removed tap remains: no configuration, state, discrepancy, alert, grace period or device. */
const checkRemoved = (items: Items, { loc, tap }: Tap, wrong: Wrong) => {
  const entity = `TAP#${tap}`
  const gone = [
    taps.key(loc, tap),
    tapStates.key(loc, tap),
    discrepancies.key(loc, tap),
    activeAlerts.key(loc, 'low_keg', entity),
    { PK: `ARMED#${loc}`, SK: `grace:low_keg:${entity}` },
  ]
  for (const key of gone) if (items.has(keyOf(key))) wrong(`${loc} ${tap} was removed, and ${keyOf(key)} still exists`)
  for (const item of items.values())
    if (item.PK.startsWith('DEVICE#') && item['loc_id'] === loc && item['tap'] === tap)
      wrong(`${loc} ${tap} was removed, and ${item.PK} is still assigned to it`)
}

/** Checks that the items of a tap do not contradict each other: its configuration, device, timeline and state. */
const checkTap = (
  has: <I extends Item>(key: Key) => I | undefined,
  { loc, tap, timeline }: Tap & { readonly timeline: TimelineItem },
  wrong: Wrong,
) => {
  const [config, state] = [has<TapItem>(taps.key(loc, tap)), has<TapStateItem>(tapStates.key(loc, tap))]
  const last = timeline.kegs.at(-1)
  if (config?.keg_id !== (last?.to === null ? last.keg_id : null))
    wrong(`${loc} ${tap} has the keg ${String(config?.keg_id)}, and its timeline ends with ${JSON.stringify(last)}`)
  const alert = has(activeAlerts.key(loc, 'low_keg', `TAP#${tap}`))
  if ((alert !== undefined) !== (state?._low === true))
    wrong(`${loc} ${tap} ${alert === undefined ? 'has no' : 'has an'} alert, and its state has the opposite`)
  if (config?.device_id === undefined) return
  const epoch = has<Item>(devicePointers.key(loc, config.device_id))?.['epoch']
  const device = has<DeviceItem>(devices.key(config.device_id, Number(epoch)))
  if (device?.tap !== tap) wrong(`${loc} ${tap} has ${config.device_id}, which is assigned to ${String(device?.tap)}`)
}

const checkDevice = (
  has: <I extends Item>(key: Key) => I | undefined,
  { device_id, loc_id, tap }: DeviceItem,
  wrong: Wrong,
) => {
  const assigned = tap === null ? undefined : has<TapItem>(taps.key(loc_id, tap))?.device_id
  if (tap !== null && assigned !== device_id)
    wrong(`${device_id} is assigned to ${loc_id} ${tap}, which has ${String(assigned)}`)
}

const checkPour = ({ PK, SK, gallons, start, end }: PourItem, wrong: Wrong) => {
  if (!(gallons > 0) || end < start) wrong(`${PK} ${SK} is a pour of ${gallons} gallons until ${end}`)
}

/** Checks that a pending alert has the item of its grace period. */
const checkPending = (has: (key: Key) => Item | undefined, { PK, type, entity, state }: AlertItem, wrong: Wrong) => {
  if (state === 'pending' && has(graces.key(PK.slice('ALERT#'.length), entity, type)) === undefined)
    wrong(`${PK} ${type} of ${entity} is pending without a grace period`)
}

/** Checks that each quarantined reading of a device was counted once. */
const checkCount = (items: Items, { PK, SK, total }: QuarantineCountItem, wrong: Wrong) => {
  const device = SK.slice('COUNT#DEVICE#'.length)
  const rows = [...items.values()].filter(
    (item) => item.PK === PK && item.SK.startsWith(`${quarantined.prefix}${quarantinedAt(device)}#`),
  ).length
  if (rows !== total) wrong(`${PK} ${SK} counts ${total}, and there are ${rows}`)
}
