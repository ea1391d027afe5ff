import { describe, expect, test } from 'vitest'
import { readNotice } from '../../../../producers/activities/strava/webhook-body.ts'

const BODY = {
  aspect_type: 'update',
  event_time: 1516126040,
  object_id: 1360128428,
  object_type: 'activity',
  owner_id: 134815,
  subscription_id: 120475,
  updates: { title: 'Messy', private: 'true' },
}
const read = (changes: Readonly<Record<string, unknown>>) => readNotice(JSON.stringify({ ...BODY, ...changes }))

describe('the body of a webhook', () => {
  test('is read as Strava documents it', () => {
    expect(read({})).toEqual({
      objectType: 'activity',
      aspect: 'update',
      objectId: '1360128428',
      ownerId: '134815',
      subscriptionId: '120475',
      eventTime: 1516126040,
      updates: { private: 'true', title: 'Messy' },
    })
    expect(read({ updates: undefined })?.updates).toEqual({})
  })

  test('keeps ids of 17 digits', () => {
    const text = JSON.stringify(BODY).replace('1360128428', '12345678901234567').replace('134815', '98765432109876543')
    expect(readNotice(text)).toMatchObject({ objectId: '12345678901234567', ownerId: '98765432109876543' })
  })

  test('keeps an event_time in milliseconds as it is', () => {
    expect(read({ event_time: 1516126040123 })?.eventTime).toBe(1516126040123)
  })

  test.each([
    ['not JSON', '{'],
    ['a text', '"x"'],
    ['a list', '[]'],
    ['null', 'null'],
    ['nothing', ''],
  ])('is refused if it is %s', (_, text) => expect(readNotice(text)).toBeUndefined())

  test.each([
    { object_type: 'gear' },
    { aspect_type: 'merge' },
    { object_id: '' },
    { object_id: -5 },
    { owner_id: null },
    { owner_id: 1.5 },
    { subscription_id: undefined },
    { event_time: '1516126040' },
    { event_time: 1.5 },
    { event_time: -1 },
    { updates: 'title' },
    { updates: ['title'] },
    { updates: { title: { deep: 1 } } },
    { updates: Object.fromEntries(Array.from({ length: 33 }, (_, at) => [`f${at}`, ''])) },
  ])('is refused with %j', (changes) => expect(read(changes)).toBeUndefined())
})
