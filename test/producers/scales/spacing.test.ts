import { expect, test } from 'vitest'
import { envelopeEvents, type Sender } from '../../../producers/scales/device-events.ts'
import { withDistinctTimes } from '../../../producers/scales/distinct-times.ts'
import { NOON } from '../../../testing/event.ts'
import { send } from '../../../testing/edge/request.ts'
import { LOC, openRunningBar } from './bar.ts'

const sender: Sender = {
  device: 'SCALE-0042',
  owner: { id: 'loc-001', epoch: 1 },
  actor: 'SCALE-0042',
  source: 'test',
  correlationId: null,
  received: NOON,
}
const instants = (readings: readonly object[]) =>
  withDistinctTimes(
    envelopeEvents(
      { boot: 'b1', readings: readings.map((reading, index) => ({ seq: index + 1, weight_lbs: 100, ...reading })) },
      sender,
      1_000,
    ).events,
  ).map(({ data, meta }) => [(data as { at: number }).at - NOON, meta.occurredAt - NOON])

test('readings without a time, or with the same time, are a millisecond apart in their order, and others keep their time', () => {
  expect(instants([{}, {}, {}])).toEqual([
    [0, 0],
    [1, 1],
    [2, 2],
  ])
  expect(instants([{ age_ms: 500 }, { age_ms: 500 }, { age_ms: 400 }, {}])).toEqual([
    [-500, -500],
    [-499, -499],
    [-400, -400],
    [0, 0],
  ])
})

test('an unsorted buffer in one request gives the same pours and alerts as a sorted one', async () => {
  const minutes = [0, 10, 1, 2, 3, 4, 5, 6, 7, 8, 9]
  const body = (order: readonly number[]) => ({
    boot: 'b1',
    readings: order.map((minute) => ({
      seq: minute + 1,
      age_ms: (10 - minute) * 60_000,
      weight_lbs: [40, 100, 100, 100, 98, 98, 98, 96, 96, 96, 40][minute],
    })),
  })
  const answers = await Promise.all(
    [minutes, [...minutes].sort((a, b) => a - b)].map(async (order) => {
      const { edge, token, getPath } = await openRunningBar()
      edge.clock.at += 600_000
      expect(
        (await send(edge.app, { method: 'POST', url: '/v1/devices/SCALE-0042/readings', token, body: body(order) }))
          .status,
      ).toBe(202)
      const [pours, alerts] = [(await getPath(`${LOC}/pours`)).body.items, (await getPath(`${LOC}/alerts`)).body.items]
      return {
        pours: pours.map(({ start, gallons }) => [start, gallons]),
        alerts: alerts.map(({ state, started_at }) => [state, started_at]),
      }
    }),
  )
  expect(answers[0]).toEqual(answers[1])
  expect(answers[1]?.pours).toHaveLength(2)
})

test('the last of several readings without a time in one message is the state of the tap', async () => {
  const { edge, token, getPath } = await openRunningBar()
  const readings = [99, 98, 97].map((weight_lbs, index) => ({ seq: index + 1, weight_lbs }))
  expect(
    (
      await send(edge.app, {
        method: 'POST',
        url: '/v1/devices/SCALE-0042/readings',
        token,
        body: { boot: 'b1', readings },
      })
    ).status,
  ).toBe(202)
  expect((await getPath(`${LOC}/taps/07`)).body['state']).toMatchObject({ weight_lbs: 97 })
})
