import { describe, expect, test } from 'vitest'
import { given } from './given.ts'
import {
  bar,
  beerChanged,
  beerDefined,
  beerRemoved,
  LOC,
  measured,
  memberAdded,
  memberRemoved,
  MINUTE,
  NOW,
  opened,
  reading,
  SCALE,
  settings,
  STATE,
  tapped,
  tared,
  weightsSet,
} from './events.ts'

const at = (minutes: number) => NOW + minutes * MINUTE
const BEER = 'BEER#guinness / META'
const HALF = 'BEER#guinness / KEG#half_barrel'
const NAME = 'BEERLIB#GLOBAL / NAME#guinness draught#guinness'

describe('BeerDefined', () => {
  test('S4 S23 S48 S-p: a beer has its profile, weights of a half barrel and its name in the library', () =>
    given()
      .when(beerDefined())
      .then({
        [BEER]: { name: 'Guinness Draught', style: 'stout', specific_gravity: 1.014 },
        [HALF]: { gallons: 15.5, full_lbs: 161.5, empty_lbs: 29 },
        [NAME]: { beer_id: 'guinness', loc_id: null },
        'BEERLIB#GLOBAL / WORD#draught#guinness': { name: 'Guinness Draught' },
      }))
  test('S4 S45: a location’s own beer is in the location’s partition', () =>
    given()
      .when(beerDefined({ beer_id: 'house', loc_id: LOC, name: 'House Ale', meta: { key: LOC } }))
      .then({
        [`BEER#${LOC}#house / META`]: { loc_id: LOC },
        [`BEERLIB#${LOC} / NAME#house ale#house`]: { beer_id: 'house' },
      }))
  test('a repeated event changes nothing, also after the removal', () => {
    const once = beerDefined()
    given(once).when(once).thenDuplicate()
    given(once, beerRemoved()).when(once).thenDuplicate()
  })
  test('refused if the id is taken, or without a name or gravity', () => {
    given(beerDefined()).when(beerDefined()).thenRefused('beer-exists')
    given()
      .when(beerDefined({ name: '!!!' }))
      .thenRefused('beer-invalid')
    given()
      .when(beerDefined({ specific_gravity: 3 }))
      .thenRefused('beer-invalid')
  })
  test('a removed beer can be defined again', () =>
    given(beerDefined(), beerRemoved())
      .when(beerDefined({ name: 'Guinness 0.0' }))
      .then({ [BEER]: { name: 'Guinness 0.0' } }))
})

describe('BeerChanged and BeerRemoved', () => {
  test('S-p: another name is another place in the library', () =>
    given(beerDefined())
      .when(beerChanged({ name: 'Guinness Stout' }))
      .then({
        [BEER]: { name: 'Guinness Stout', style: 'stout' },
        [NAME]: null,
        'BEERLIB#GLOBAL / NAME#guinness stout#guinness': {},
      }))
  test('a repeated change changes nothing, also after another one', () => {
    const once = beerChanged({ style: 'dry stout' })
    given(beerDefined(), once, beerChanged({ style: 'ale' }))
      .when(once)
      .thenDuplicate()
  })
  test('a removed beer leaves the library; its weights stay for the kegs', () =>
    given(beerDefined())
      .when(beerRemoved())
      .then({ [BEER]: null, [NAME]: null, [HALF]: {} }))
  test('refused for a beer that does not exist', () => {
    given()
      .when(beerChanged({ name: 'x' }))
      .thenRefused('beer-not-found')
    given().when(beerRemoved()).thenRefused('beer-not-found')
    given(beerDefined())
      .when(beerRemoved({ meta: { key: LOC } }))
      .thenRefused('beer-not-found')
  })
  test('a repeated removal changes nothing', () => {
    const once = beerRemoved()
    given(beerDefined(), once).when(once).thenDuplicate()
  })
})

describe('weights of kegs', () => {
  test('S5 S24: they are set by hand, per type', () =>
    given(beerDefined())
      .when(weightsSet())
      .then({ 'BEER#guinness / KEG#sixth_barrel': { gallons: 5.17, full_lbs: 60.2, empty_lbs: 16.1 } }))
  test('refused if a full keg does not weigh more than an empty one, or if there is no such beer', () => {
    given(beerDefined())
      .when(weightsSet({ full_lbs: 10 }))
      .thenRefused('beer-invalid')
    given().when(weightsSet()).thenRefused('beer-not-found')
  })
  test('S41 S42: the weight of a full keg sets the full weight and keeps the empty one', () =>
    given(beerDefined())
      .when(measured())
      .then({
        [HALF]: {
          full_lbs: 160,
          empty_lbs: 29,
          gallons: 15.5,
          measured_at: '2026-11-16T12:00:00.000Z',
          measured_count: 1,
        },
      }))
  test('S42: several kegs are calculated: a mean in which each counts once, as it was weighed last', () => {
    given(beerDefined(), measured())
      .when(measured({ keg_id: 'keg-2', full_lbs: 162, at: at(1) }))
      .then({ [HALF]: { full_lbs: 161, measured_count: 2 } })
    given(beerDefined(), measured())
      .when(measured({ full_lbs: 158, at: at(1) }))
      .then({ [HALF]: { full_lbs: 158, measured_count: 1 } })
  })
  test('a repeated event changes nothing, also after the weights were set by hand', () => {
    const once = measured()
    given(beerDefined(), once).when(once).thenUnchanged()
    given(beerDefined(), once, weightsSet({ keg_type: 'half_barrel', full_lbs: 150, empty_lbs: 28 }))
      .when(once)
      .thenUnchanged()
  })
  test('an implausible weight does not change a global beer, and changes a location’s own', () => {
    given(beerDefined())
      .when(measured({ full_lbs: 120 }))
      .thenUnchanged()
    given(beerDefined())
      .when(measured({ full_lbs: 203 }))
      .thenUnchanged()
    given(beerDefined())
      .when(measured({ full_lbs: 125 }))
      .then({ [HALF]: { full_lbs: 125 } })
    given(beerDefined(), measured({ full_lbs: 200 }))
      .when(measured({ full_lbs: 240, at: at(1) }))
      .thenUnchanged()
    given(beerDefined(), measured({ full_lbs: 200 }), weightsSet({ keg_type: 'half_barrel', full_lbs: 240 }))
      .when(measured({ full_lbs: 250, at: at(1) }))
      .then({ [HALF]: { full_lbs: 250 } })
    const own = { loc_id: LOC, meta: { key: LOC } }
    given(beerDefined(own))
      .when(measured({ ...own, full_lbs: 120 }))
      .then({ [`BEER#${LOC}#guinness / KEG#half_barrel`]: { full_lbs: 120 } })
  })
  test('an unknown beer changes nothing', () => given().when(measured()).thenUnchanged())
})

describe('TareRecorded', () => {
  const TARE = 'KEG#keg-1 / TARE'

  test('S7 S26 S40: it is stored with the keg on the tap', () => {
    given(...bar)
      .when(tared({ at: at(1) }))
      .then({
        [TARE]: {
          empty_offset: 29.3,
          full_ref: null,
          tared_at: '2026-11-16T12:01:00.000Z',
          tare_status: 'empty',
          loc_id: LOC,
        },
        [STATE]: { tare_status: 'empty' },
      })
    given(...bar, tared({ at: at(1) }))
      .when(tared({ kind: 'full', value_lbs: 160, at: at(2) }))
      .then({ [TARE]: { empty_offset: 29.3, full_ref: 160, tare_status: 'complete' } })
  })
  test('S40: a scale that sends the tare itself is found by its tap', () =>
    given(...bar)
      .when(tared({ tap: null, at: at(1) }))
      .then({ [TARE]: { empty_offset: 29.3 } }))
  test('S-i: it belongs to the keg that was on the tap', () =>
    given(...bar, tapped({ keg_id: 'keg-2', tapped_at: at(9) }))
      .when(tared({ at: at(5) }))
      .then({ [TARE]: { empty_offset: 29.3 }, 'KEG#keg-2 / TARE': null, [STATE]: { tare_status: 'pending' } }))
  test('S41: the weight of a full keg becomes an event of its beer', () => {
    const { result } = given(...bar).when(tared({ kind: 'full', value_lbs: 160, at: at(1) }))
    expect(result.derived?.[0]?.event).toEqual({
      type: 'BeerKegWeightMeasured',
      key: 'guinness',
      data: { beer_id: 'guinness', loc_id: null, keg_type: 'half_barrel', keg_id: 'keg-1', full_lbs: 160, at: at(1) },
    })
    const own = beerDefined({ loc_id: LOC, meta: { key: LOC } })
    expect(
      given(...bar, own).when(tared({ kind: 'full', value_lbs: 160, at: at(1) })).result.derived?.[0]?.event.key,
    ).toBe(LOC)
  })
  test('a weight that the keg cannot have is quarantined, whoever sends it, and changes no beer', () => {
    for (const unfit of [
      tared({ tap: null, kind: 'full', value_lbs: 29, at: at(1) }),
      tared({ tap: null, kind: 'empty', value_lbs: 161.5, at: at(1) }),
      tared({ kind: 'full', value_lbs: 3, at: at(1) }),
    ]) {
      const when = given(...bar).when(unfit)
      when.then({ [TARE]: null, [`QUARANTINE#${LOC} / COUNT#DEVICE#${SCALE}`]: { total: 1, reasons: { tare: 1 } } })
      expect(when.result.derived).toBeUndefined()
      given(...bar, unfit)
        .when(unfit)
        .thenUnchanged()
    }
    given(...bar)
      .when(tared({ device_id: null, kind: 'full', value_lbs: 3, at: at(1) }))
      .thenUnchanged()
  })
  test('a late and a repeated event change nothing', () => {
    const once = tared({ at: at(2) })
    given(...bar, once)
      .when(once)
      .thenUnchanged()
    given(...bar, once)
      .when(tared({ at: at(1), value_lbs: 5 }))
      .thenUnchanged()
  })
  test('repeated after another keg was recorded for its time, it changes nothing', () => {
    const later = tapped({ keg_id: 'keg-2', tapped_at: at(1) })
    for (const once of [tared({ at: at(2) }), tared({ tap: null, at: at(2) })])
      given(...bar, once, later)
        .when(once)
        .thenUnchanged()
    const unfit = tared({ kind: 'full', value_lbs: 29, at: at(2) })
    given(...bar, unfit, tapped({ keg_id: 'keg-2', tapped_at: at(1), full_lbs: 40, empty_lbs: 10 }))
      .when(unfit)
      .thenUnchanged()
  })
  test('without a keg or a device it changes nothing', () => {
    given(...bar)
      .when(tared({ tap: '08', device_id: null }))
      .thenUnchanged()
    given(...bar)
      .when(tared({ tap: null, device_id: null }))
      .thenUnchanged()
  })
  test('S3: the status that a scale sends is stored', () =>
    given(...bar, tared({ at: at(1) }))
      .when(reading({ at: at(2), tare_status: 'drifting' }))
      .then({ [STATE]: { tare_status: 'drifting' } }))
})

describe('a location', () => {
  test('belongs to the actor of the first event', () => {
    given()
      .when(opened())
      .then({ [`LOCATION#${LOC} / OWNER`]: { user_id: 'ada' }, [`LOCATION#${LOC} / MEMBER#ada`]: { user_id: 'ada' } })
    given(opened())
      .when(opened({ meta: { actorId: 'eve' } }))
      .thenRefused('location-taken')
    given(opened()).when(opened()).thenDuplicate()
  })
  test('has members', () => {
    given(opened())
      .when(memberAdded())
      .then({ [`LOCATION#${LOC} / MEMBER#bob`]: { user_id: 'bob', added_by: 'ada' } })
    given(opened(), memberAdded())
      .when(memberRemoved())
      .then({ [`LOCATION#${LOC} / MEMBER#bob`]: null })
    given().when(memberAdded()).thenRefused('location-not-found')
    given(opened()).when(memberRemoved()).thenRefused('member-not-found')
    given(opened())
      .when(memberRemoved({ user_id: 'ada' }))
      .thenRefused('owner-stays')
  })
  test('a repeated event does not add a member again who left', () => {
    const once = memberAdded()
    given(opened(), once, memberRemoved()).when(once).thenDuplicate()
  })
  test('S19: settings are as they were set; others have their default, and values out of range change nothing', () => {
    const { items } = given(settings({ low_keg_pct: 25 })).when(
      settings({ grace_period_secs: 60, silent_after_secs: -1, timezone: 'America/Denver', pour_window_hours: 12 }),
    )
    expect(items[`LOCATION#${LOC} / SETTINGS`]).toEqual({
      _heard: expect.anything(),
      PK: `LOCATION#${LOC}`,
      SK: 'SETTINGS',
      low_keg_pct: 25,
      grace_period_secs: 60,
      timezone: 'America/Denver',
      pour_window_hours: 12,
    })
  })
  test('repeated settings do not undo later ones', () => {
    const once = settings({ low_keg_pct: 25 })
    given(once, settings({ low_keg_pct: 30 }))
      .when(once)
      .thenUnchanged()
  })
})
