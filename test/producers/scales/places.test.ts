import { describe, expect, test } from 'vitest'
import { as } from '../person.ts'
import { GUINNESS, LOC, openBar, typesOf } from './bar.ts'

describe('a location', () => {
  test('belongs to the user of its first command, and is opened before that command', async () => {
    const { edge, getPath, sendCommand } = await openBar()
    expect(await sendCommand('PATCH', `${LOC}/settings`, { timezone: 'europe/berlin' })).toMatchObject({
      status: 200,
      body: { timezone: 'Europe/Berlin' },
    })
    expect(typesOf(edge)).toEqual(['LocationOpened', 'LocationSettingsChanged'])
    expect((await getPath(`${LOC}/members`)).body.items).toMatchObject([{ user_id: 'ann', role: 'owner' }])
  })

  test('is opened once: later commands append only their own event', async () => {
    const { edge, sendCommand } = await openBar()
    await sendCommand('PATCH', `${LOC}/settings`, { low_keg_pct: 10 })
    await sendCommand('PATCH', `${LOC}/settings`, { low_keg_pct: 12 })
    expect(typesOf(edge).filter((type) => type === 'LocationOpened')).toHaveLength(1)
  })

  test('is not opened by a command that is refused', async () => {
    const { edge, sendCommand } = await openBar()
    expect(await sendCommand('POST', `${LOC}/taps/07/keg/finish`)).toMatchObject({
      status: 404,
      body: { code: 'tap-not-found' },
    })
    expect(await sendCommand('POST', `${LOC}/taps/07/keg`, { beer_id: 'none', keg_type: 'half_barrel' })).toMatchObject(
      { status: 404, body: { code: 'beer-not-found' } },
    )
    expect(typesOf(edge)).toEqual([])
  })

  test('that does not exist, and one of other users, are not found', async () => {
    const { edge, getPath, sendCommand } = await openBar()
    expect(await getPath(`${LOC}/taps`)).toMatchObject({ status: 404, body: { code: 'location-not-found' } })
    await sendCommand('PATCH', `${LOC}/settings`, { low_keg_pct: 10 })
    const bob = await as(edge, 'bob')
    for (const path of ['taps', 'taps/07', 'pours', 'alerts', 'alerts/history', 'settings', 'devices', 'members']) {
      expect(await bob.getPath(`${LOC}/${path}`), path).toMatchObject({
        status: 404,
        body: { code: 'location-not-found' },
      })
    }
    expect(await bob.sendCommand('PATCH', `${LOC}/settings`, { low_keg_pct: 99 })).toMatchObject({
      status: 404,
      body: { code: 'location-not-found' },
    })
    expect((await getPath(`${LOC}/settings`)).body).toMatchObject({ low_keg_pct: 10 })
  })

  test('has no #, + or other sign in its id, and the refusal names the allowed characters', async () => {
    const { edge, sendCommand } = await openBar()
    for (const id of ['a#b', 'a+b', 'a b', 'x'.repeat(65)]) {
      const answer = await sendCommand('PATCH', `/v1/locations/${encodeURIComponent(id)}/settings`, { low_keg_pct: 10 })
      expect(answer, id).toMatchObject({
        status: 404,
        body: { code: 'location-not-found', detail: expect.stringContaining('letters, digits') as unknown },
      })
    }
    expect(typesOf(edge)).toEqual([])
  })

  test('that two users open at once belongs to the first', async () => {
    const { edge, sendCommand } = await openBar()
    const bob = await as(edge, 'bob')
    edge.pause()
    const first = sendCommand('PATCH', `${LOC}/settings`, { low_keg_pct: 10 })
    const second = bob.sendCommand('PATCH', `${LOC}/settings`, { low_keg_pct: 20 })
    await Promise.all([first, second]).then((answers) =>
      expect(answers.map(({ status }) => status)).toEqual([503, 503]),
    )
    edge.resume()
    expect((await sendCommand('PATCH', `${LOC}/settings`, { low_keg_pct: 10 })).status).toBe(200)
    expect((await bob.sendCommand('PATCH', `${LOC}/settings`, { low_keg_pct: 20 })).status).toBe(404)
    expect(typesOf(edge)).toEqual(['LocationOpened', 'LocationOpened', 'LocationSettingsChanged'])
  })

  test('is read and changed by its members, whom its owner adds', async () => {
    const { edge, sendCommand } = await openBar()
    const bob = await as(edge, 'bob')
    expect(await sendCommand('PUT', `${LOC}/members/bob`)).toMatchObject({
      status: 200,
      body: { user_id: 'bob', role: 'member' },
    })
    expect((await bob.getPath(`${LOC}/members`)).body.items).toMatchObject([
      { user_id: 'ann', role: 'owner' },
      { user_id: 'bob', role: 'member' },
    ])
    expect((await bob.sendCommand('PATCH', `${LOC}/settings`, { low_keg_pct: 12 })).status).toBe(200)
    expect(await bob.sendCommand('PUT', `${LOC}/members/cyd`)).toMatchObject({
      status: 403,
      body: { code: 'owner-only' },
    })
    expect(await bob.sendCommand('DELETE', `${LOC}/members/ann`)).toMatchObject({
      status: 403,
      body: { code: 'owner-only' },
    })
    expect(await sendCommand('DELETE', `${LOC}/members/ann`)).toMatchObject({
      status: 409,
      body: { code: 'owner-stays' },
    })
    expect((await bob.sendCommand('DELETE', `${LOC}/members/bob`)).status).toBe(200)
    expect((await bob.getPath(`${LOC}/taps`)).status).toBe(404)
    expect(await sendCommand('DELETE', `${LOC}/members/bob`)).toMatchObject({
      status: 404,
      body: { code: 'member-not-found' },
    })
  })

  test('S19 has settings of its own, with defaults until they are changed', async () => {
    const { getPath, sendCommand } = await openBar()
    expect(
      (await sendCommand('PATCH', `${LOC}/settings`, { grace_period_secs: 60, pour_window_hours: 4.5 })).body,
    ).toMatchObject({
      grace_period_secs: 60,
      pour_window_hours: 4.5,
      low_keg_pct: 15,
      low_battery_pct: 20,
      silent_after_secs: 600,
      timezone: 'UTC',
    })
    expect((await getPath(`${LOC}/settings`)).body).toMatchObject({ grace_period_secs: 60, pour_window_hours: 4.5 })
    for (const wrong of [
      { timezone: 'Mars/Base' },
      { low_keg_pct: 101 },
      { grace_period_secs: 1.5 },
      { grace_period_secs: '60' },
      {},
      { unknown: 1 },
    ]) {
      expect((await sendCommand('PATCH', `${LOC}/settings`, wrong)).status, JSON.stringify(wrong)).toBe(400)
    }
  })

  test('S45 shares the global beers with all locations, and its own beers with none', async () => {
    const { edge, getPath, sendCommand } = await openBar()
    await sendCommand('POST', '/v1/beers', GUINNESS)
    await sendCommand('POST', '/v1/beers', { name: 'Gulp of the House', loc_id: 'loc-001' })
    const bob = await as(edge, 'bob')
    expect((await getPath('/v1/beers?search=gu&loc=loc-001')).body.items.map(({ id }) => id)).toEqual([
      'gulp-of-the-house',
      'guinness-draught',
    ])
    expect((await bob.getPath('/v1/beers?search=gu')).body.items.map(({ id }) => id)).toEqual(['guinness-draught'])
    expect((await bob.getPath('/v1/beers?search=gu&loc=loc-001')).status).toBe(404)
    expect((await bob.getPath('/v1/beers/gulp-of-the-house?loc=loc-001')).status).toBe(404)
    expect((await bob.sendCommand('PATCH', '/v1/beers/gulp-of-the-house?loc=loc-001', { name: 'Mine' })).status).toBe(
      404,
    )
  })
})
