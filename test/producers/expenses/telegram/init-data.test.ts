import { describe, expect, test } from 'vitest'
import { initDataKey, readInitData } from '../../../../producers/expenses/telegram/init-data.ts'
import { NOON } from '../../../../testing/event.ts'
import { BOT_TOKEN, openedBy, signed, ZOFIE } from './signed.ts'

const SECOND = 1000
const key = initDataKey(BOT_TOKEN)
const read = (initData: string, now = NOON) => readInitData(initData, { key, now })

/** An `initData` whose `hash` was computed with Python over all other fields, independent of our code. */
const KNOWN =
  'query_id=AAHdF6IQAAAAAN0XohDhrOrc&user=%7B%22id%22%3A279058397%2C%22first_name%22%3A%22%C5%BDofie%22%2C%22last_name%22%3A%22Nov%C3%A1kov%C3%A1%22%2C%22username%22%3A%22zofie_n%22%2C%22language_code%22%3A%22cs%22%2C%22allows_write_to_pm%22%3Atrue%2C%22photo_url%22%3A%22https%3A%2F%2Ft.me%2Fi%2Fuserpic%2F320%2Fzofie.svg%22%7D&auth_date=1794830400&signature=6fbdaab833d39f54518bd5c3eb3f511d035e68cb&chat_instance=-3788475317572404878&chat_type=group&hash=b130758e21c88399919611a4683914856b488f10c0ffd54c6e4f78f92e1933df'
/** The hash over the fields of KNOWN without `signature`. It is valid only if the field `signature` is removed, too. */
const KNOWN_WITHOUT = '30bd95087b7c6dbb29d25dcfc0548407bd41df11adc7d44bd8ee006829773906'

describe('E-l initData proves who opened the Mini App', () => {
  test('a known signature is valid in any order of the fields', () => {
    const zofie = {
      user: '279058397',
      isBot: false,
      profile: { name: 'Žofie Nováková', username: 'zofie_n', avatarUrl: 'https://t.me/i/userpic/320/zofie.svg' },
    }
    expect(read(KNOWN)).toEqual(zofie)
    expect(read(KNOWN.split('&').reverse().join('&'))).toEqual(zofie)
  })

  test('`signature` is signed like every other field', () => {
    expect(read(KNOWN.replace('6fbdaab8', '6fbdaab9'))).toMatchObject({ code: 'init-data-invalid' })
    expect(read(KNOWN.replace(/hash=.*/, `hash=${KNOWN_WITHOUT}`))).toMatchObject({ code: 'init-data-invalid' })
    expect(read(KNOWN.replace(/&signature=[^&]*/, '').replace(/hash=.*/, `hash=${KNOWN_WITHOUT}`))).toMatchObject({
      user: '279058397',
    })
  })

  test('fields are signed in the order of their code points', () => {
    expect(read(openedBy(ZOFIE, { more: { Zebra: '1', _a: '2', a: '3', a_b: '4', B: '5' } }))).toMatchObject({
      user: '279058397',
    })
  })

  test('it is valid for a day, and a clock can be a minute ahead', () => {
    const good = openedBy(ZOFIE)
    for (const after of [-60, 0, 86_400])
      expect(read(good, NOON + after * SECOND), String(after)).toMatchObject({ user: '279058397' })
    expect(read(good, NOON + 86_401 * SECOND)).toMatchObject({ code: 'init-data-expired' })
    expect(read(good, NOON - 61 * SECOND)).toMatchObject({ code: 'init-data-invalid' })
  })

  test('a wrong signature is reported before the age', () => {
    expect(read(openedBy(ZOFIE, { botToken: '1:another' }), NOON + 1e9)).toMatchObject({ code: 'init-data-invalid' })
  })
})

const { first_name: _, ...nameless } = ZOFIE
const forged: readonly (readonly [what: string, initData: string])[] = [
  ['nothing', ''],
  ['no query string', 'hello'],
  ['a field twice', `${openedBy(ZOFIE)}&auth_date=1794830400`],
  ['the hash twice', `${openedBy(ZOFIE)}&hash=${'0'.repeat(64)}`],
  ['the same field again in another spelling', openedBy(ZOFIE).replace('query_id', 'auth%5Fdate=1794830400&query_id')],
  ['no hash', openedBy(ZOFIE).replace(/&hash=.*/, '')],
  ['half a hash', openedBy(ZOFIE).slice(0, -32)],
  ['a hash in capitals', openedBy(ZOFIE).replace(/hash=.*/, (hash) => hash.toUpperCase().replace('HASH', 'hash'))],
  ['another user', openedBy(ZOFIE).replace('279058397', '279058398')],
  ['a field more', `${openedBy(ZOFIE)}&start_param=debug`],
  ['a field less', openedBy(ZOFIE).replace(/query_id=[^&]*&/, '')],
  ['the signature of another bot', openedBy(ZOFIE, { botToken: '7654321098:AAAnother' })],
  ['broken percent signs', `${openedBy(ZOFIE)}&x=%E0%A4%A`],
  ['no time', signed({ user: JSON.stringify(ZOFIE) })],
  ['a time that is none', signed({ user: JSON.stringify(ZOFIE), auth_date: '2026-11-16' })],
  ['a time before all', signed({ user: JSON.stringify(ZOFIE), auth_date: '-1' })],
  ['no user', signed({ auth_date: String(NOON / 1000) })],
  ['a user that is no JSON', signed({ auth_date: String(NOON / 1000), user: '{' })],
  ['a user who is a list', signed({ auth_date: String(NOON / 1000), user: '[1]' })],
  ['a user without an id', openedBy({ first_name: 'Žofie' })],
  ['a user with a text as id', openedBy({ ...ZOFIE, id: '279058397' })],
  ['a user with an id below zero', openedBy({ ...ZOFIE, id: -1 })],
  ['a user with an id beyond all', openedBy({ ...ZOFIE, id: 2 ** 53 })],
  ['more than a Mini App is ever opened with', openedBy(ZOFIE, { more: { start_param: 'x'.repeat(8192) } })],
]

describe('initData is rejected with', () => {
  test.each(forged)('%s', (_what, initData) => {
    expect(read(initData)).toEqual({ code: 'init-data-invalid', detail: expect.stringContaining('initData') })
  })
})

describe('a person of Telegram', () => {
  const profile = (user: object) => Reflect.get(read(openedBy(user)), 'profile') as unknown

  test('has their name at Telegram', () => {
    expect(profile({ id: 1, first_name: 'Bo' })).toEqual({ name: 'Bo', username: null, avatarUrl: null })
    expect(profile({ id: 1, first_name: ' Bo\u0000\n', last_name: '\u202eLi \ud800' })).toMatchObject({
      name: 'Bo \u202eLi',
    })
  })

  test('without a name has their id as name', () => {
    expect(profile(nameless)).toMatchObject({ name: 'Nováková' })
    expect(profile({ id: 7, first_name: ' \t' })).toMatchObject({ name: '7' })
  })

  test('an invalid username or URL of a picture is left out', () => {
    expect(profile({ id: 7, first_name: 'Bo', username: 'b o', photo_url: 'picture' })).toEqual({
      name: 'Bo',
      username: null,
      avatarUrl: null,
    })
    expect(
      profile({ id: 7, first_name: 'B'.repeat(300), username: 1, photo_url: `https://t.me/${'x'.repeat(1000)}` }),
    ).toEqual({ name: 'B'.repeat(200), username: null, avatarUrl: null })
  })
})
