import { isHttpsUrl } from '../../projections/https-url.ts'
import type { Profile } from '../http/scheme.ts'
import { part, textIn } from '../part.ts'

/** A user as Telegram tells them, in `initData` and in updates alike. */
export interface TelegramUser {
  readonly user: string
  readonly isBot: boolean
  readonly profile: Profile
}

/** Names longer than Telegram's own (64 and 64) are nobody's. */
const MOST_NAME = 200
const MOST_URL = 1000
const USERNAME = /^[A-Za-z0-9_]{1,64}$/

/** Undefined where it is no user: without an id, or one beyond what Telegram gives (52 bits). */
export const telegramUser = (value: unknown): TelegramUser | undefined => {
  const id = part(value, 'id')
  if (!Number.isSafeInteger(id) || Number(id) <= 0) return undefined
  const user = String(id)
  const [username, picture] = [textIn(value, 'username'), textIn(value, 'photo_url')]
  const name = [textIn(value, 'first_name'), textIn(value, 'last_name')].map(line).filter((each) => each !== '').join(' ').slice(0, MOST_NAME).toWellFormed()
  return {
    user,
    isBot: part(value, 'is_bot') === true,
    profile: {
      name: name === '' ? user : name,
      username: USERNAME.test(username) ? username : null,
      avatarUrl: picture.length <= MOST_URL && isHttpsUrl(picture) ? picture : null,
    },
  }
}

const UNSEEN = /[\p{Cc}\p{Cs}]/gu

/** As one line of whole characters. */
export const line = (text: string): string => text.replace(UNSEEN, ' ').replace(/\s+/g, ' ').trim()
