import type { Item } from '../../projections/item.ts'
import type { Change, Domain, Get, Result } from '../../projections/projection.ts'
import type { TimelineItem } from '../../projections/scales/items.ts'
import type { Event } from '../../schemas/event.ts'
import type { Bug } from './world.ts'

type Fold = (event: Event, get: Get) => Result

/** The rules of the scales are wrong, for live, rebuild and reference alike: only their own promises can tell. */
const ruling = (change: (fold: Fold, type: string) => Fold): Bug => ({
  under: { domain: 'scales', moves: [], rates: {} },
  noticedBy: 'scales',
  rules: (domain: Domain) => ({
    ...domain,
    projections: domain.projections.map((one) => ({
      ...one, folds: Object.fromEntries(Object.entries(one.folds).map(([type, fold]) => [type, fold && change(fold, type)])),
    })),
  }),
})

const writing = (change: (item: Change) => readonly Change[], types?: readonly string[]): Bug => ruling((fold, type) => (event, get) => {
  const { items, ...rest } = fold(event, get)
  return items === undefined || types?.includes(type) === false ? { items: items ?? [], ...rest } : { ...rest, items: items.flatMap(change) }
})

const isState = ({ SK }: Change): boolean => SK.endsWith('#STATE')
const without = (name: string) => (item: Change): readonly Change[] => (isState(item) ? [Object.fromEntries(Object.entries(item).filter(([each]) => each !== name)) as Item] : [item])

export const SCALES_BUGS: Readonly<Record<string, Bug>> = {
  'a tap forgets that it has an alert': writing(without('_low')),
  'a reading that comes again is taken for a new one': writing(without('_heard')),
  'a reading that comes again is another point': writing(without('_seen')),
  'a late reading becomes the state': ruling((fold, type) => (type === 'ReadingReported' ? (event, get) => fold(event, undated(get)) : fold)),
  'what is active stays when its tap is removed': writing((item) => ('_removed' in item && item.PK.startsWith('ALERT#') ? [] : [item]), ['TapRemoved']),
  'a device stays under a tap that is removed': writing((item) => (item.PK.startsWith('DEVICE#') ? [] : [item]), ['TapRemoved']),
  'what is not believed is counted again': writing((item) => (item.SK.includes('#AT#') ? [] : [item])),
  'a keg stays when another is put on its tap': writing((item) => (item.SK.startsWith('TIMELINE#') && 'kegs' in item ? [{ ...item, kegs: (item as TimelineItem).kegs.map((span) => ({ ...span, to: null })) }] : [item]), ['KegTapped']),
  'the key of an index is null': { ...writing((item) => (item.SK === 'TELEMETRY' && !('battery_pct' in item) ? [{ ...item, battery_pct: null }] : [item])), noticedBy: 'C1' },
  'a pour is told upside down': writing((item) => (item.SK.startsWith('POUR#') && 'gallons' in item ? [{ ...item, gallons: -Number(item['gallons']) }] : [item])),
  'an alert ends and nobody remembers': writing((item) => (item.SK.startsWith('HIST#') && item.SK.endsWith('resolved') ? [] : [item])),
}

/** As if the tap had never been read. */
const undated = (get: Get): Get => <I extends Item>(key: { readonly PK: string; readonly SK: string }) => {
  const found = get<I>(key)
  return found === undefined || !key.SK.endsWith('#STATE') ? found : { ...found, updated_at: null }
}
