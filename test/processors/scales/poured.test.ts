import { describe, expect, test } from 'vitest'
import { scales } from '../../../processors/scales/domain.ts'
import type { Item, Key } from '../../../projections/item.ts'
import type { Domain } from '../../../projections/projection.ts'
import type { PourItem, SettingsItem } from '../../../projections/scales/items.ts'
import { locationSettings } from '../../../projections/scales/keys.ts'
import { contents, given, tableOf, type Table } from './given.ts'
import {
  assigned,
  bar,
  corrected,
  finished,
  LOC,
  MINUTE,
  NOW,
  reading,
  released,
  settings,
  silence,
  STATE,
  tapped,
  tapRemoved,
  unassigned,
} from './events.ts'

const at = (minutes: number) => NOW + minutes * MINUTE
const LBS_A_GALLON = 1.014 / (0.45359237 * 0.264172)
/** Readings one minute apart, with the gallons that are left in the keg. */
const level = (...gallons: readonly number[]) =>
  gallons.map((left, n) => reading({ at: at(n + 1), level_pct: null, weight_lbs: 29 + left * LBS_A_GALLON }))
const pours = (table: Table) =>
  Object.values(contents(table)).filter(({ SK }) => SK.startsWith('POUR#')) as Item[] as PourItem[]

describe('the item of a pour', () => {
  test('belongs to the keg and the tap, in the order of time', () => {
    const [pour] = pours(tableOf([...bar, ...level(10, 10, 9.875, 9.875)]))
    expect(pour).toMatchObject({
      PK: `LOCATION#${LOC}`,
      SK: 'POUR#2026-11-16T12:02:00.000Z#07',
      keg_id: 'keg-1',
      tap: '07',
      end: '2026-11-16T12:03:00.000Z',
    })
    expect(pour?.gallons).toBeCloseTo(0.125, 9)
  })

  test('is shown as pouring until the level stays', () => {
    const [, second, third] = level(10, 9.9, 9.9)
    given(...bar, ...level(10))
      .when(second ?? reading())
      .then({ [STATE]: { pouring: true } })
    given(...bar, ...level(10), second ?? reading())
      .when(third ?? reading())
      .then({ [STATE]: { pouring: false } })
  })

  test('S-f: noise, a refill, an object on the keg and a keg that is lifted off are no pours', () => {
    for (const levels of [
      [10, 9.98, 10.01, 9.97],
      [3, 15, 15, 15],
      [10, 11.5, 10, 10],
      [10, 11.5, 11.5, 10, 10],
      [10, -3.2, -3.2, 15],
    ])
      expect(pours(tableOf([...bar, ...level(...levels)]))).toEqual([])
  })

  test('after a swap in the middle of a pour, the part so far belongs to the old keg', () => {
    const table = tableOf([
      ...bar,
      ...level(10, 9.7),
      tapped({ keg_id: 'keg-2', tapped_at: at(2) + 1 }),
      ...level(0, 0, 15.5, 15.5).slice(2),
    ])
    expect(pours(table).map(({ keg_id, gallons }) => [keg_id, Number(gallons.toFixed(6))])).toEqual([['keg-1', 0.3]])
    expect(contents(table)[STATE]).toMatchObject({ pouring: false, keg_id: 'keg-2' })
  })

  test('a pour ends at its last reading if the scale is silent, the device, the keg or the tap is removed', () => {
    const gone = { meta: { occurredAt: at(12) } }
    for (const end of [
      silence(gone),
      unassigned(gone),
      assigned({ tap: '08', ...gone }),
      released(gone),
      finished({ at: at(3), ...gone }),
    ]) {
      const history = [...bar, ...level(10, 9.7), end]
      expect(contents(tableOf(history))[STATE], end.type).toMatchObject({ pouring: false })
      expect(
        pours(tableOf(history)).map(({ keg_id, end: till, gallons }) => [keg_id, till, Number(gallons.toFixed(6))]),
        end.type,
      ).toEqual([['keg-1', '2026-11-16T12:02:00.000Z', 0.3]])
    }
    expect(pours(tableOf([...bar, ...level(10, 9.7), tapRemoved(gone)]))).toHaveLength(1)
  })

  test('a pause that is shorter than a silence ends no pour', () =>
    given(...bar, ...level(10, 9.7))
      .when(silence({ meta: { occurredAt: at(10) } }))
      .then({ [STATE]: { pouring: true } }))

  test('S-f: beer that left while the scale was silent is no pour; the pours after it begin at the new level', () => {
    const due = silence({ meta: { occurredAt: at(12) } })
    const later = (...gallons: readonly number[]) =>
      level(...gallons).map((it, n) => reading({ ...it.data, at: at(20 + n), meta: {} }))
    expect(
      pours(tableOf([...bar, ...level(10, 9.7), due, ...later(9.1, 9.1, 9, 9)])).map(({ gallons }) =>
        Number(gallons.toFixed(6)),
      ),
    ).toEqual([0.3, 0.1])
    const other = [unassigned({ meta: { occurredAt: at(12) } }), assigned({ meta: { occurredAt: at(13) } })]
    expect(pours(tableOf([...bar, ...level(10, 9.7), ...other, ...later(9.4, 9.4)]))).toHaveLength(1)
  })

  test('a late pour of a removed keg or scale is stored, and the tap does not show it as under way', () => {
    const gone = { meta: { occurredAt: at(12) } }
    for (const left of [unassigned(gone), tapped({ keg_id: 'keg-2', tapped_at: at(12), ...gone })]) {
      given(...bar, left, ...level(10))
        .when(...level(10, 9.7).slice(1))
        .then({ [STATE]: { keg_id: 'keg-1', pouring: false } })
      expect(pours(tableOf([...bar, left, ...level(10, 9.7, 9.7)])), left.type).toHaveLength(1)
    }
  })

  test('a swap whose event is folded before the next reading ends the pour, too', () => {
    const [one, two, three] = level(10, 9.7, 15)
    const table = tableOf([
      ...bar,
      tapped({ keg_id: 'keg-2', tapped_at: at(2) + 1 }),
      ...[one, two, three].flatMap((it) => it ?? []),
    ])
    expect(pours(table).map(({ keg_id }) => keg_id)).toEqual(['keg-1'])
  })

  test('a correction of the keg in the middle of a pour keeps the whole pour', () =>
    expect(
      pours(tableOf([...bar, ...level(10, 9.7), corrected()])).map(({ gallons }) => Number(gallons.toFixed(6))),
    ).toEqual([0.3]))

  test('S-m: a correction keeps the whole pour after it', () => {
    const [one, two, three, four] = level(10, 10, 9.7, 9.7)
    const table = tableOf([
      ...bar,
      ...[one, two].flatMap((it) => it ?? []),
      corrected({ sg: 1.014 }),
      ...[three, four].flatMap((it) => it ?? []),
    ])
    expect(pours(table).map(({ keg_id, gallons }) => [keg_id, Number(gallons.toFixed(6))])).toEqual([['keg-9', 0.3]])
  })

  test('S19: the location sets what is noise', () => {
    const readings = level(10, 9.96, 9.96, 9.8, 9.8)
    expect(pours(tableOf([...bar, ...readings]))).toHaveLength(1)
    expect(pours(tableOf([...bar, settings({ pour_min_gallons: 0.03 }), ...readings]))).toHaveLength(2)
  })

  test('a build of the same log with other thresholds detects other pours', () => {
    const history = [...bar, ...level(10, 9.96, 9.96, 9.8, 9.8)]
    expect(pours(tableOf(history, finer))).toHaveLength(2)
    expect(pours(tableOf(history))).toHaveLength(1)
  })
})

/** The domain scales with other default thresholds, as in a later release. */
const finer: Domain = {
  ...scales,
  foldVersion: scales.foldVersion + 1,
  projections: scales.projections.map(({ name, folds }) => ({
    name,
    folds: Object.fromEntries(
      Object.entries(folds).map(([type, fold]) => [
        type,
        fold &&
          ((event, get) =>
            fold(event, <I extends Item>(key: Key) => {
              const found = get<I>(key)
              const { PK, SK } = locationSettings.key(event.meta.key)
              return found === undefined && key.PK === PK && key.SK === SK
                ? ({ PK, SK, pour_min_gallons: 0.03 } satisfies SettingsItem as Item as I)
                : found
            })),
      ]),
    ) as Domain['projections'][number]['folds'],
  })),
}
