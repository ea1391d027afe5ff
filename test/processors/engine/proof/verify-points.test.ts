import { expect, test } from 'vitest'
import { verifyPoints } from '../../../../processors/engine/proof/verify-points.ts'
import type { Point, SeriesSpec } from '../../../../projections/series.ts'

const spec: SeriesSpec = {
  database: 'd',
  name: 'n',
  dims: ['tap'],
  measures: { m: { v: 'number' } },
  rows: { key: () => ({ PK: '', SK: '' }), ttlSeconds: 1 },
}
const point = (at: number, v: number, tap = 'a'): Point => ({ measure: 'm', dims: { tap }, at, values: { v } })
const listing = (...points: readonly Point[]) => ({
  list: async function* () {
    for (const one of points) yield [one]
  },
})
const still = async () => undefined

test('equal points are counted, and no difference is reported', async () => {
  const same = listing(point(1, 1), point(2, 2), point(1, 3, 'b'))
  expect(await verifyPoints({ spec, stored: same, folded: same, advance: still })).toEqual({
    points: 3,
    differences: [],
  })
})

test('missing, additional and different points are reported, in both directions', async () => {
  const [stored, folded] = [
    listing(point(1, 1), point(3, 3), point(4, 4)),
    listing(point(1, 9), point(2, 2), point(4, 4), point(1, 1, 'b')),
  ]
  const { differences } = await verifyPoints({ spec, stored, folded, advance: still })
  expect(differences.map(({ kind, dims, at }) => [kind, dims['tap'], at])).toEqual([
    ['changed', 'a', 1],
    ['missing', 'a', 2],
    ['extra', 'a', 3],
    ['missing', 'b', 1],
  ])
})

test('a point that was written meanwhile is not a difference after its event is folded', async () => {
  let folded = listing(point(1, 1))
  const advance = async () => void (folded = listing(point(1, 1), point(2, 2)))
  expect(
    await verifyPoints({
      spec,
      stored: listing(point(1, 1), point(2, 2)),
      folded: { list: () => folded.list() },
      advance,
    }),
  ).toEqual({ points: 2, differences: [] })
})

test('points that are older than the store keeps them are not reported as missing', async () => {
  const stored = { ...listing(point(10, 1)), retainedFrom: () => 5 }
  expect(
    await verifyPoints({ spec, stored, folded: listing(point(1, 1), point(10, 1)), advance: still }),
  ).toMatchObject({ differences: [] })
})
