import type { Profile } from '../http/scheme.ts'

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
  if (typeof value !== 'object' || value === null) return undefined
  const { id, is_bot, first_name, last_name, username, photo_url }: Partial<Record<string, unknown>> = { ...value }
  if (!Number.isSafeInteger(id) || Number(id) <= 0) return undefined
  const user = String(id)
  const name = [first_name, last_name].map(line).filter((part) => part !== '').join(' ').slice(0, MOST_NAME).toWellFormed()
  return {
    user,
    isBot: is_bot === true,
    profile: {
      name: name === '' ? user : name,
      username: typeof username === 'string' && USERNAME.test(username) ? username : null,
      avatarUrl: typeof photo_url === 'string' && photo_url.length <= MOST_URL && URL.canParse(photo_url) ? photo_url : null,
    },
  }
}

const UNSEEN = /[\p{Cc}\p{Cs}]/gu

/** As one line of whole characters. */
export const line = (value: unknown): string => (typeof value === 'string' ? value.replace(UNSEEN, ' ').replace(/\s+/g, ' ').trim() : '')
