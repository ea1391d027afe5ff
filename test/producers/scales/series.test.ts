import { expect, test } from 'vitest'
import { scales } from '../../../processors/scales/domain.ts'
import type { SeriesHeard } from '../../../producers/http/route.ts'
import { scalesEdge } from '../../../producers/scales.ts'
import { as, openMemoryEdge } from '../memory-edge.ts'
import { LOC } from './bar.ts'

test('a question to the series waits for the event in Tributary-After until the series have it, and no other question does', async () => {
  let passed = -1
  const series: SeriesHeard = {
    reader: { get: async () => undefined, getMany: async (keys) => keys.map(() => undefined), query: async () => ({ items: [] }) },
    points: { points: async function* () {}, bins: async () => [] },
    reached: async ({ offset }) => offset <= passed,
  }
  const edge = await openMemoryEdge({ domain: scales, edge: scalesEdge, series })
  const { ask, say } = await as(edge, 'ann')
  const event = (await say('POST', `${LOC}/devices`, { device_id: 'SCALE-0042' })).headers['tributary-event'] as string
  const after = { 'tributary-after': event }
  for (const url of [`${LOC}/devices/battery`, `${LOC}/pours/by-hour`, `${LOC}/styles`]) {
    passed = -1
    expect(await ask(url, after), url).toMatchObject({ status: 503, body: { code: 'not-yet-visible' }, headers: { 'retry-after': '1' } })
    expect((await ask(url)).status, url).toBe(200)
    passed = edge.events.length
    expect((await ask(url, after)).status, url).toBe(200)
  }
  passed = -1
  expect((await ask(`${LOC}/taps`, after)).status).toBe(200)
})
