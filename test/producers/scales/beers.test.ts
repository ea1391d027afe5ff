import { describe, expect, test } from 'vitest'
import { as } from '../person.ts'
import { GUINNESS, LOC, openBar, openRunningBar } from './bar.ts'

describe('beers', () => {
  test('S4 S23 a beer has a name, a style and a gravity, by default that of water', async () => {
    const { ask, say } = await openBar()
    expect(await say('POST', '/v1/beers', GUINNESS)).toMatchObject({
      status: 201,
      body: { id: 'guinness-draught', loc_id: null, name: 'Guinness Draught', style: 'Stout', specific_gravity: 1.014 },
    })
    expect((await say('POST', '/v1/beers', { name: 'Měšťan Světlý' })).body).toMatchObject({
      id: 'mestan-svetly',
      style: null,
      specific_gravity: 1,
    })
    expect((await ask('/v1/beers/mestan-svetly')).body).toMatchObject({ name: 'Měšťan Světlý' })
    expect(await say('POST', '/v1/beers', GUINNESS)).toMatchObject({ status: 409, body: { code: 'beer-exists' } })
  })

  test('S5 S24 S42 its keg weights show whether they are reference data, measured, or an average', async () => {
    const { edge, ask, say } = await openRunningBar()
    const kegs = async () => (await ask('/v1/beers/guinness-draught')).body['kegs']
    expect(await kegs()).toMatchObject([
      { keg_type: 'half_barrel', gallons: 15.5, full_lbs: 161.5, empty_lbs: 29, badge: 'default' },
    ])
    await say('POST', `${LOC}/taps/07/tare`, { kind: 'full', value_lbs: 160 })
    expect(await kegs()).toMatchObject([{ full_lbs: 160, empty_lbs: 29, badge: 'set' }])
    edge.clock.at += 3_600_000
    await say('POST', `${LOC}/taps/07/keg`, { beer_id: 'guinness-draught', keg_type: 'half_barrel' })
    await say('POST', `${LOC}/taps/07/tare`, { kind: 'full', value_lbs: 161 })
    expect(await kegs()).toMatchObject([{ full_lbs: 160.5, badge: 'calculated' }])
    expect(
      (await say('PUT', '/v1/beers/guinness-draught/kegs/sixth_barrel', { gallons: 5.17, full_lbs: 60, empty_lbs: 16 }))
        .body['kegs'],
    ).toMatchObject([{}, { keg_type: 'sixth_barrel', full_lbs: 60 }])
  })

  test('S-p the library is searched by the beginning of words, without case and accents, page by page', async () => {
    const { ask, say } = await openBar()
    for (const name of ['Modelo Especial', 'Modelo Negra', 'Módelo Zero', 'Coors Light'])
      await say('POST', '/v1/beers', { name })
    await say('POST', '/v1/beers', { name: 'Modelled on nothing', loc_id: 'loc-001' })
    const named = async (query: string) => (await ask(`/v1/beers?${query}`)).body.items.map(({ id }) => id)
    expect(await named('search=MODELO')).toEqual(['modelo-especial', 'modelo-negra', 'modelo-zero'])
    expect(await named('search=x')).toEqual([])
    const all: string[] = []
    let cursor: string | undefined
    do {
      const { body } = await ask(
        `/v1/beers?search=model&loc=loc-001&limit=1${cursor === undefined ? '' : `&cursor=${cursor}`}`,
      )
      all.push(...body.items.map(({ id }) => id))
      cursor = body.cursor
    } while (cursor !== undefined)
    expect(all).toEqual(['modelled-on-nothing', 'modelo-especial', 'modelo-negra', 'modelo-zero'])
    expect((await ask('/v1/beers?cursor=%25')).status).toBe(400)
  })

  test('S45 S-p a beer is found by any word of its name, once', async () => {
    const { ask, say } = await openBar()
    for (const name of ['Sierra Nevada Pale Ale', 'Paler than Pale', 'Nevada', 'Guinness'])
      await say('POST', '/v1/beers', { name })
    const named = async (query: string) => (await ask(`/v1/beers?${query}`)).body.items.map(({ id }) => id)
    expect(await named('search=nev')).toEqual(['sierra-nevada-pale-ale', 'nevada'])
    expect(await named('search=pale')).toEqual(['sierra-nevada-pale-ale', 'paler-than-pale'])
    expect(await named('search=Pale%20A')).toEqual(['sierra-nevada-pale-ale'])
    expect(await named('search=ada')).toEqual([])
    expect(await named('')).toEqual(['guinness', 'nevada', 'paler-than-pale', 'sierra-nevada-pale-ale'])
    await say('PATCH', '/v1/beers/nevada', { name: 'Pale Nevada' })
    expect(await named('search=pale%20n')).toEqual(['nevada'])
    expect(await named('search=nev')).toEqual(['sierra-nevada-pale-ale', 'nevada'])
    await say('DELETE', '/v1/beers/nevada')
    expect(await named('search=nev')).toEqual(['sierra-nevada-pale-ale'])
  })

  test('a beer is changed and removed, also in the library', async () => {
    const { ask, say } = await openBar()
    await say('POST', '/v1/beers', GUINNESS)
    expect(
      (await say('PATCH', '/v1/beers/guinness-draught', { name: 'Extra Stout', specific_gravity: 1.015 })).body,
    ).toMatchObject({ name: 'Extra Stout', style: 'Stout', specific_gravity: 1.015 })
    expect((await ask('/v1/beers?search=extra')).body.items).toMatchObject([{ id: 'guinness-draught' }])
    expect((await ask('/v1/beers?search=guinness')).body.items).toEqual([])
    for (const time of ['first', 'again'])
      expect(await say('DELETE', '/v1/beers/guinness-draught'), time).toMatchObject({
        status: 200,
        body: { removed: true },
      })
    expect((await say('DELETE', '/v1/beers/none')).status).toBe(404)
    expect((await ask('/v1/beers/guinness-draught')).status).toBe(404)
    expect((await say('PATCH', '/v1/beers/guinness-draught', { name: 'x' })).status).toBe(404)
  })

  test('only the user who added a beer to the global library can change or remove it', async () => {
    const { edge, ask, say } = await openBar()
    const eve = await as(edge, 'eve')
    await say('POST', '/v1/beers', GUINNESS)
    const before = (await ask('/v1/beers/guinness-draught')).body
    const weights = { gallons: 15.5, full_lbs: 40, empty_lbs: 29 }
    for (const [method, path, body] of [
      ['PATCH', '', { name: 'x' }],
      ['DELETE', '', undefined],
      ['PUT', '/kegs/half_barrel', weights],
    ] as const) {
      expect(await eve.say(method, `/v1/beers/guinness-draught${path}`, body), method).toMatchObject({
        status: 403,
        body: { code: 'not-your-beer' },
      })
    }
    expect((await ask('/v1/beers/guinness-draught')).body).toEqual(before)
  })

  test('every member can change a beer of the location', async () => {
    const { edge, say } = await openBar()
    await say('POST', '/v1/beers', { ...GUINNESS, loc_id: 'loc-001' })
    await say('PUT', `${LOC}/members/eve`)
    const eve = await as(edge, 'eve')
    expect((await eve.say('PATCH', '/v1/beers/guinness-draught?loc=loc-001', { name: 'Extra Stout' })).status).toBe(200)
  })

  test.each([
    ['a name without a letter', { name: '!!!' }],
    ['no name', {}],
    ['a gravity that no beer has', { name: 'x', specific_gravity: 3 }],
    ['an id that does not fit a key', { name: 'x', beer_id: 'a#b' }],
    ['an unknown field', { name: 'x', abv: 5 }],
  ])('%s is refused', async (_what, body) => {
    const { edge, say } = await openBar()
    expect((await say('POST', '/v1/beers', body)).status).toBe(400)
    expect(edge.events.filter(({ type }) => type === 'BeerDefined')).toEqual([])
  })
})
