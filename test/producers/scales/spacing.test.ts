import { expect, test } from 'vitest'
import { takeEnvelope, type Sender } from '../../../producers/scales/intake.ts'
import { spaced } from '../../../producers/scales/spacing.ts'
import { NOON, send } from '../memory-edge.ts'
import { LOC, openRunningBar } from './bar.ts'

const sender: Sender = { device: 'SCALE-0042', holder: { loc: 'loc-001', epoch: 1 }, actor: 'SCALE-0042', source: 'test', correlationId: null, received: NOON }
const instants = (readings: readonly object[]) =>
  spaced(takeEnvelope({ boot: 'b1', readings: readings.map((reading, index) => ({ seq: index + 1, weight_lbs: 100, ...reading })) }, sender, 1_000).events)
    .map(({ data, meta }) => [(data as { at: number }).at - NOON, meta.occurredAt - NOON])

test('readings that tell no time, or the same, are a millisecond apart in their order; others stay where they are', () => {
  expect(instants([{}, {}, {}])).toEqual([[0, 0], [1, 1], [2, 2]])
  expect(instants([{ age_ms: 500 }, { age_ms: 500 }, { age_ms: 400 }, {}])).toEqual([[-500, -500], [-499, -499], [-400, -400], [0, 0]])
})

test('of readings that came together without a time, the last is the state of the tap', async () => {
  const { edge, token, ask } = await openRunningBar()
  const readings = [99, 98, 97].map((weight_lbs, index) => ({ seq: index + 1, weight_lbs }))
  expect((await send(edge.app, { method: 'POST', url: '/v1/devices/SCALE-0042/readings', token, body: { boot: 'b1', readings } })).status).toBe(202)
  expect((await ask(`${LOC}/taps/07`)).body['state']).toMatchObject({ weight_lbs: 97 })
})
