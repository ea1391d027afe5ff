import { createHmac } from 'node:crypto'
import { NOON } from '../../../../testing/event.ts'

export const BOT_TOKEN = '7654321098:AAFakeTokenOfATestBot_0123456789abcd'

export const ZOFIE = {
  id: 279058397,
  first_name: 'Žofie',
  last_name: 'Nováková',
  username: 'zofie_n',
  language_code: 'cs',
  photo_url: 'https://t.me/i/userpic/320/zofie.svg',
} as const

/** Returns an `initData` of a Mini App with these fields and the signature that Telegram would add. */
export const signed = (fields: Readonly<Record<string, string>>, botToken = BOT_TOKEN): string => {
  const key = createHmac('sha256', 'WebAppData').update(botToken).digest()
  const text = Object.keys(fields)
    .sort()
    .map((name) => `${name}=${fields[name]}`)
    .join('\n')
  const hash = createHmac('sha256', key).update(text).digest('hex')
  return Object.entries({ ...fields, hash })
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&')
}

export const openedBy = (
  user: object,
  {
    at = NOON,
    botToken = BOT_TOKEN,
    more = {},
  }: { at?: number; botToken?: string; more?: Readonly<Record<string, string>> } = {},
): string =>
  signed(
    {
      query_id: 'AAHdF6IQAAAAAN0XohDhrOrc',
      user: JSON.stringify(user),
      auth_date: String(Math.floor(at / 1000)),
      ...more,
    },
    botToken,
  )
