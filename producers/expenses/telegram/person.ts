import { isHttpsUrl } from '../../../projections/https-url.ts'
import type { Profile } from '../../http/scheme.ts'
import { memberOf, textMember } from '../../json-member.ts'

/** A user in Telegram's `initData` and updates. */
export interface TelegramUser {
  readonly user: string
  readonly isBot: boolean
  readonly profile: Profile
}

/** Longer than every name in Telegram: first and last name have at most 64 characters each. */
const MOST_NAME = 200
const MOST_URL = 1000
const USERNAME = /^[A-Za-z0-9_]{1,64}$/

/** Reads a user. Undefined if the value has no id, or an id that is not a positive safe integer. Telegram's ids have at most 52 bits. */
export const telegramUser = (value: unknown): TelegramUser | undefined => {
  const id = memberOf(value, 'id')
  if (!Number.isSafeInteger(id) || Number(id) <= 0) return undefined
  const user = String(id)
  const [username, picture] = [textMember(value, 'username'), textMember(value, 'photo_url')]
  const name = [textMember(value, 'first_name'), textMember(value, 'last_name')]
    .map(line)
    .filter((each) => each !== '')
    .join(' ')
    .slice(0, MOST_NAME)
    .toWellFormed()
  return {
    user,
    isBot: memberOf(value, 'is_bot') === true,
    profile: {
      name: name === '' ? user : name,
      username: USERNAME.test(username) ? username : null,
      avatarUrl: picture.length <= MOST_URL && isHttpsUrl(picture) ? picture : null,
    },
  }
}

const UNSEEN = /[\p{Cc}\p{Cs}]/gu

/** The text on one line, without control characters and lone surrogates. */
export const line = (text: string): string => text.replace(UNSEEN, ' ').replace(/\s+/g, ' ').trim()
