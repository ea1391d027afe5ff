import { describe, expect, test } from 'vitest'
import type { MemoryEdge } from '../../../testing/edge/edge.ts'
import { LOC, openRunningBar, read } from './bar.ts'

const MINUTE = 60_000

/** Sends two low readings six minutes apart, so that the breach lasts longer than its grace and the alert fires. */
const breach = async (edge: MemoryEdge) => {
  await read(edge, { weight_lbs: 40, level_pct: 8 })
  edge.clock.at += 6 * MINUTE
  await read(edge, { weight_lbs: 40, level_pct: 8 })
}

describe('alerts', () => {
  test('S12 S31 S49 an active alert is listed once, with an id that fits a path', async () => {
    const { edge, getPath } = await openRunningBar()
    await breach(edge)
    expect((await getPath(`${LOC}/alerts`)).body.items).toMatchObject([
      { id: 'low_keg:TAP:07', type: 'low_keg', entity: 'TAP#07', state: 'active', value: 8, threshold: 15 },
    ])
  })

  test('S-n a breach is pending, then active, then acknowledged, then resolved', async () => {
    const { edge, getPath, sendCommand } = await openRunningBar()
    const states = async () => (await getPath(`${LOC}/alerts`)).body.items.map((alert) => alert['state'])
    await read(edge, { weight_lbs: 40, level_pct: 8 })
    expect(await states()).toEqual(['pending'])
    expect(await sendCommand('POST', `${LOC}/alerts/low_keg:TAP:07/ack`)).toMatchObject({
      status: 404,
      body: { code: 'alert-not-found' },
    })
    edge.clock.at += 6 * MINUTE
    await read(edge, { weight_lbs: 40, level_pct: 8 })
    expect(await states()).toEqual(['active'])
    expect(await sendCommand('POST', `${LOC}/alerts/low_keg:TAP:07/ack`)).toMatchObject({
      status: 200,
      body: { state: 'acknowledged', acknowledged_by: 'ann' },
    })
    edge.clock.at += MINUTE
    await read(edge, { weight_lbs: 60, level_pct: 17 })
    expect(await states()).toEqual(['acknowledged'])
    edge.clock.at += MINUTE
    await read(edge, { weight_lbs: 60, level_pct: 21 })
    expect(await states()).toEqual([])
  })

  test('S13 S32 S51 the history contains each change, newest first', async () => {
    const { edge, getPath, sendCommand } = await openRunningBar()
    await breach(edge)
    edge.clock.at += MINUTE
    await sendCommand('POST', `${LOC}/alerts/low_keg:TAP:07/ack`)
    edge.clock.at += MINUTE
    await read(edge, { weight_lbs: 60, level_pct: 50 })
    expect((await getPath(`${LOC}/alerts/history`)).body.items.map((alert) => alert['state'])).toEqual([
      'resolved',
      'acknowledged',
      'active',
    ])
  })

  test.each([
    'low_keg:TAP:99',
    'low_keg:TAP:7',
    'none:TAP:07',
    'low_keg',
    'low_battery:DEVICE:',
    'low_keg:TAP:07%23',
    '%23',
  ])('there is no alert %s to acknowledge', async (id) => {
    const { sendCommand } = await openRunningBar()
    expect(await sendCommand('POST', `${LOC}/alerts/${id}/ack`)).toMatchObject({
      status: 404,
      body: { code: 'alert-not-found' },
    })
  })
})

describe('pours', () => {
  const pour = async (edge: MemoryEdge) => {
    for (const weight_lbs of [120, 119.9, 118.9, 117.9, 117.9, 117.9]) {
      await read(edge, { weight_lbs, level_pct: 60 })
      edge.clock.at += 15_000
    }
  }

  test('pours between two instants are listed, newest first', async () => {
    const { edge, getPath, keg } = await openRunningBar()
    await pour(edge)
    const {
      body: { items },
    } = await getPath(`${LOC}/pours`)
    expect(items).toMatchObject([{ tap: '07', keg_id: keg, voided: false }])
    expect(items[0]?.['gallons']).toBeCloseTo(0.236, 1)
    expect((await getPath(`${LOC}/pours?from=2026-11-16T12:00:00Z&to=2026-11-16T13:00:00Z`)).body.items).toHaveLength(1)
    expect((await getPath(`${LOC}/pours?to=2026-11-16T11:00:00Z`)).body.items).toEqual([])
    expect((await getPath(`${LOC}/pours?from=2026-11-16T13:00:00Z&to=2026-11-16T12:00:00Z`)).status).toBe(400)
  })

  test('a wrong pour is voided by its keg and time', async () => {
    const { edge, getPath, sendCommand, keg } = await openRunningBar()
    await pour(edge)
    const body = { keg_id: keg, from: '2026-11-16T12:00:00Z', to: '2026-11-16T12:30:00Z', reason: 'cleaned the line' }
    expect(await sendCommand('POST', `${LOC}/pours/void`, body)).toMatchObject({
      status: 200,
      body: { ...body, voided: true },
    })
    expect((await getPath(`${LOC}/pours`)).body.items).toMatchObject([{ keg_id: keg, voided: true }])
    expect((await sendCommand('POST', `${LOC}/pours/void`, { ...body, to: '2026-11-16T11:00:00Z' })).status).toBe(400)
  })
})
