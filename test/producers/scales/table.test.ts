import { describe, expect, test } from 'vitest'
import { scales } from '../../../processors/scales/domain.ts'
import { graces, tapStates, telemetry } from '../../../projections/scales/keys.ts'
import { keyOf } from '../../../projections/item.ts'
import { send } from '../../../testing/edge/request.ts'
import { LOC, openRunningBar, read } from './bar.ts'

describe('the table', () => {
  test("S1 is scale-sense, and every query is by key and prefix: a location's dashboard reads nothing of another", async () => {
    const { edge, token, keg } = await openRunningBar()
    expect(scales.table.name).toBe('scale-sense')
    for (let other = 0; other < 50; other += 1)
      edge.items.set(`strange${other}`, {
        PK: `LOCATION#loc-1${other}`,
        SK: 'TAP#07',
        loc_id: `loc-1${other}`,
        tap_id: '',
      })
    const { body } = await send(edge.app, { url: `${LOC}/taps`, token })
    expect(body.items).toMatchObject([{ tap: '07', keg_id: keg }])
  })

  test('S33 the grace of a breach is stored under its own key', async () => {
    const { edge } = await openRunningBar()
    const grace = () => edge.reader.get(graces.key('loc-001', 'TAP#07', 'low_keg'))
    expect(await grace()).toBeUndefined()
    await read(edge, { weight_lbs: 40, level_pct: 8 })
    expect(await grace()).toMatchObject({
      PK: 'FIRING#loc-001#TAP#07',
      started_at: '2026-11-16T12:00:00.000Z',
      fire_at: '2026-11-16T12:05:00.000Z',
    })
  })

  test('S43 the level is that of the scale, whatever the tare of the keg', async () => {
    const { edge, ask, say } = await openRunningBar()
    await say('POST', `${LOC}/taps/07/tare`, { kind: 'empty', value_lbs: 40 })
    await read(edge, { weight_lbs: 95.25, level_pct: 48.25 })
    expect((await ask(`${LOC}/taps/07`)).body).toMatchObject({
      state: { level_pct: 48.25 },
      keg: { tare: { empty_offset: 40 } },
    })
  })

  test("S-k one fold decides a tap's state; telemetry is a projection of its own", async () => {
    const { edge } = await openRunningBar()
    await read(edge, { weight_lbs: 95.25, level_pct: 50, battery_pct: 70 })
    const [main, beside] = scales.projections
    expect([main?.name, beside?.name]).toEqual(['scales', 'telemetry'])
    expect(edge.items.get(keyOf(tapStates.key('loc-001', '07')))).toMatchObject({ level_pct: 50 })
    expect(edge.items.get(keyOf(telemetry.key('SCALE-0042', 1)))).toMatchObject({ battery_pct: 70 })
    expect(Object.keys(beside?.folds ?? {})).not.toContain('KegTapped')
  })
})
