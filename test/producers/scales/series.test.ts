import { describe, expect, test } from 'vitest'
import { scales } from '../../../processors/scales/domain.ts'
import type { TrackedSeries } from '../../../producers/http/route.ts'
import { scalesEdge } from '../../../producers/scales/edge.ts'
import { binsOf } from '../../../projections/bins.ts'
import type { Point, Stretch } from '../../../projections/series.ts'
import type { Event } from '../../../schemas/event.ts'
import { measuredBy } from '../../processors/scales/points.ts'
import { readerOf } from '../../projections/reader.ts'
import { as } from '../person.ts'
import { openMemoryEdge } from '../../../testing/edge/edge.ts'
import { GUINNESS, LOC, openRunningBar, read } from './bar.ts'

test('a GET of the series waits until the series contain the event in Tributary-After, and no other GET does', async () => {
  let passed = -1
  const series: TrackedSeries = {
    reader: {
      get: async () => undefined,
      getMany: async (keys) => keys.map(() => undefined),
      query: async () => ({ items: [] }),
    },
    points: { points: async function* () {}, bins: async () => [] },
    untilFolded: async ({ offset }) => offset <= passed,
  }
  const edge = await openMemoryEdge({ domain: scales, edge: scalesEdge, series })
  const { getPath, sendCommand } = await as(edge, 'ann')
  const event = (await sendCommand('POST', `${LOC}/devices`, { device_id: 'SCALE-0042' })).headers[
    'tributary-event'
  ] as string
  const after = { 'tributary-after': event }
  for (const url of [`${LOC}/devices/battery`, `${LOC}/pours/by-hour`, `${LOC}/styles`]) {
    passed = -1
    expect(await getPath(url, after), url).toMatchObject({
      status: 503,
      body: { code: 'not-yet-visible' },
      headers: { 'retry-after': '1' },
    })
    expect((await getPath(url)).status, url).toBe(200)
    passed = edge.events.length
    expect((await getPath(url, after)).status, url).toBe(200)
  }
  passed = -1
  expect((await getPath(`${LOC}/taps`, after)).status).toBe(200)
})

/** A series with the points of the events that `events` returns. Each query calls `events` again. */
const seriesOf = (events: () => readonly Event[]): TrackedSeries => {
  const reader = () => readerOf(measuredBy(events()).table)
  const within = ({ measure, where, from, to }: Stretch): readonly Point[] =>
    measuredBy(events())
      .points.filter(
        (point) =>
          point.measure === measure &&
          point.at >= from &&
          point.at < to &&
          Object.entries(where).every(([dim, value]) => point.dims[dim] === value),
      )
      .sort((a, b) => a.at - b.at)
  return {
    reader: {
      get: (key) => reader().get(key),
      getMany: (keys) => reader().getMany(keys),
      query: (query) => reader().query(query),
    },
    points: {
      points: async function* (stretch, { newest = false, limit = Infinity } = {}) {
        yield (newest ? [...within(stretch)].reverse() : within(stretch)).slice(0, limit)
      },
      bins: async (stretch, binning) => binsOf(within(stretch), binning),
    },
    untilFolded: async () => true,
  }
}

/** Creates a bar with a keg on a scale. `weigh` sends one reading per weight, one minute apart. */
const openMeasuredBar = async () => {
  let events: readonly Event[] = []
  const bar = await openRunningBar(seriesOf(() => events))
  events = bar.edge.events
  const weigh = async (...weights: readonly number[]) => {
    for (const weight_lbs of weights) {
      bar.edge.clock.at += 60_000
      await read(bar.edge, { weight_lbs })
    }
  }
  return { ...bar, weigh }
}

const gallonsOfLbs = (lbs: number, sg: number): number => (lbs * 0.45359237 * 0.264172) / sg
const near = (value: number) => expect.closeTo(value, 6)

describe('over HTTP', () => {
  test('beer that left while the scale was silent is unseen_gallons, in no pour, and in the lifespan', async () => {
    const { edge, getPath, keg, weigh } = await openMeasuredBar()
    await weigh(160, 160, 158, 158, 158)
    edge.clock.at += 3_600_000
    await weigh(150, 150)
    const [unseen, poured] = [near(gallonsOfLbs(8, 1.014)), near(gallonsOfLbs(2, 1.014))]
    expect((await getPath(`${LOC}/kegs/${keg}/lifespan`)).body).toMatchObject({
      unseen_gallons: unseen,
      total_poured_gallons: near(gallonsOfLbs(10, 1.014)),
    })
    expect((await getPath(`${LOC}/taps/07/rate`)).body).toMatchObject({
      unseen_gallons: unseen,
      poured_gallons: poured,
    })
    expect((await getPath(`${LOC}/pours/by-hour`)).body).toMatchObject({ unseen_gallons: unseen })
    expect((await getPath(`${LOC}/pours`)).body.items).toMatchObject([{ gallons: poured }])
  })

  test('a keg swap that is recorded late leaves the difference of the two kegs out of every answer', async () => {
    const { edge, getPath, sendCommand, keg, weigh } = await openMeasuredBar()
    await weigh(110, 110)
    const tapped_at = new Date(edge.clock.at + 30_000).toISOString()
    await weigh(106, 106, 106, 104, 104, 104)
    expect((await getPath(`${LOC}/pours`)).body.items).toMatchObject([
      { keg_id: keg, gallons: near(gallonsOfLbs(2, 1.014)) },
      { keg_id: keg, gallons: near(gallonsOfLbs(4, 1.014)) },
    ])
    const {
      body: { id: next },
    } = await sendCommand('POST', `${LOC}/taps/07/keg`, {
      beer_id: GUINNESS.beer_id,
      keg_type: 'half_barrel',
      tapped_at,
    })
    const poured = near(gallonsOfLbs(2, 1.014))
    expect((await getPath(`${LOC}/pours`)).body.items).toMatchObject([{ keg_id: next, gallons: poured }])
    expect((await getPath(`${LOC}/kegs/${keg}/lifespan`)).body).toMatchObject({ total_poured_gallons: 0 })
    expect((await getPath(`${LOC}/kegs/${next}/lifespan`)).body).toMatchObject({ total_poured_gallons: poured })
    expect((await getPath(`${LOC}/styles`)).body.items).toMatchObject([{ gallons: poured }])
    await weigh(100, 100)
    expect((await getPath(`${LOC}/pours`)).body.items).toMatchObject([
      { gallons: near(gallonsOfLbs(4, 1.014)) },
      { gallons: poured },
    ])
  })

  test('S-m: a correction of the keg reaches every answer at once', async () => {
    const { getPath, sendCommand, keg, weigh } = await openMeasuredBar()
    await sendCommand('POST', '/v1/beers', {
      beer_id: 'modelo',
      name: 'Modelo',
      style: 'Lager',
      specific_gravity: 1.01,
    })
    await weigh(160, 160, 158, 158, 158)
    const {
      body: { id: right },
    } = await sendCommand('POST', `${LOC}/taps/07/keg/correct`, {
      beer_id: 'modelo',
      keg_type: 'half_barrel',
      full_lbs: 180,
      empty_lbs: 40,
    })
    expect(right).not.toBe(keg)
    const [poured, left] = [near(gallonsOfLbs(2, 1.01)), near(gallonsOfLbs(118, 1.01))]
    expect((await getPath(`${LOC}/taps/07`)).body).toMatchObject({
      keg_id: right,
      beer_id: 'modelo',
      state: { gallons: left },
    })
    expect((await getPath(`${LOC}/taps`)).body.items).toMatchObject([{ keg_id: right, state: { gallons: left } }])
    expect((await getPath(`${LOC}/taps/07/history`)).body).toMatchObject({
      keg_id: right,
      data: [120, 120, 118, 118, 118].map((lbs) => ({ level_pct: near((lbs / 140) * 100) })),
    })
    expect((await getPath(`${LOC}/taps/07/rate`)).body).toMatchObject({
      keg_id: right,
      poured_gallons: poured,
      gallons_left: left,
    })
    expect((await getPath(`${LOC}/kegs/${right}/lifespan`)).body).toMatchObject({
      beer_id: 'modelo',
      total_poured_gallons: poured,
    })
    expect((await getPath(`${LOC}/kegs/${keg}/lifespan`)).body).toMatchObject({
      total_poured_gallons: 0,
      last_reading: null,
    })
    expect((await getPath(`${LOC}/pours`)).body.items).toMatchObject([{ keg_id: right, gallons: poured }])
    expect((await getPath(`${LOC}/styles`)).body.items).toEqual([{ style: 'Lager', gallons: poured, share: 1 }])
    const byHour = (await getPath(`${LOC}/pours/by-hour`)).body['hours'] as readonly { readonly pours: number }[]
    expect(byHour.filter(({ pours }) => pours > 0)).toMatchObject([{ pours: 1, gallons: poured }])
    expect((await getPath(`${LOC}/pours/by-hour?legacy=true`)).body).toEqual({
      timezone: 'UTC',
      hours: [{ hour_of_day: 12, avg_gallons: near(gallonsOfLbs((120 + 120 + 118 * 3) / 5, 1.01)) }],
    })
  })
})
