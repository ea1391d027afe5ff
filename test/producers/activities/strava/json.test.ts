import { describe, expect, test } from 'vitest'
import { parseStravaJson, stravaId } from '../../../../producers/activities/strava/json.ts'

describe('JSON of Strava', () => {
  test('keeps every digit of an id of 17 digits', () => {
    const text =
      '{"id":12345678901234567,"list":[98765432109876543,-1],"distance":1.5e3,"name":"ride 12345678901234567"}'
    expect(parseStravaJson(text)).toEqual({
      id: '12345678901234567',
      list: ['98765432109876543', -1],
      distance: 1500,
      name: 'ride 12345678901234567',
    })
    expect(stravaId('12345678901234567')).toBe('12345678901234567')
  })

  test('keeps texts with escaped quotes and digits', () => {
    expect(parseStravaJson(String.raw`{"a":"\"12345678901234567\\","b":12345678901234567}`)).toEqual({
      a: '"12345678901234567\\',
      b: '12345678901234567',
    })
  })

  test('rejects text that is not JSON, also a long unclosed text', () => {
    expect(() => parseStravaJson('{')).toThrow(SyntaxError)
    expect(() => parseStravaJson('"' + '\\"'.repeat(200_000))).toThrow(SyntaxError)
  })

  test('reads ids only from whole positive numbers', () => {
    expect(stravaId(1360128428)).toBe('1360128428')
    for (const value of [0, -1, 1.5, 2 ** 60, '', '007', '1e3', 'x', '12345678901234567890', null, undefined, {}])
      expect(stravaId(value), String(value)).toBeUndefined()
  })
})
