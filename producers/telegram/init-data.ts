import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Mistake } from '../http/problem.ts'
import { part, textIn } from '../part.ts'
import { telegramUser, type TelegramUser } from './person.ts'

export type Unproven = Pick<Mistake, 'code' | 'detail'>

/** What a Mini App was opened with is good for a day, as Telegram's own libraries have it; clocks may differ by a minute. */
const GOOD_SECONDS = 86_400
const AHEAD_SECONDS = 60
/** Telegram's is below 2 KiB. */
const MOST_CHARACTERS = 8192

/** The key that proves what a bot's Mini Apps are opened with. */
export const initDataKey = (botToken: string): Buffer => createHmac('sha256', 'WebAppData').update(botToken).digest()

export interface Opened extends TelegramUser {
  /** The group chat from which the Mini App was opened. Telegram signs it only if the user opened the app from the attachment menu of that chat. */
  readonly chat?: string
}

/** The user who opened the Mini App, or the reason why the `initData` is invalid. */
export const readInitData = (initData: string, { key, now }: { key: Buffer; now: number }): Opened | Unproven => {
  const fields = initData.length > MOST_CHARACTERS ? undefined : fieldsOf(initData)
  if (fields === undefined) return invalid('is no query string of a Mini App, or has a field twice')
  const hash = fields.get('hash') ?? ''
  if (!/^[0-9a-f]{64}$/.test(hash)) return invalid('has no hash')
  if (!timingSafeEqual(hmacOf(fields, key), Buffer.from(hash, 'hex'))) return invalid('was not signed with the token of this bot, or was changed')
  const age = now / 1000 - Number(/^\d{1,12}$/.exec(fields.get('auth_date') ?? '')?.[0] ?? Number.NaN)
  if (!(age >= -AHEAD_SECONDS)) return invalid('has no time at which it was given, or one that is yet to come')
  if (age > GOOD_SECONDS) return { code: 'init-data-expired', detail: 'The initData is older than a day: open the Mini App anew.' }
  const user = telegramUser(parsed(fields.get('user') ?? ''))
  const chat = groupChatOf(parsed(fields.get('chat') ?? ''))
  return user === undefined ? invalid('names no user') : { ...user, ...(chat !== undefined && { chat }) }
}

/** The id of a group or a supergroup. Undefined for other chats. */
const groupChatOf = (chat: unknown): string | undefined => {
  const id = part(chat, 'id')
  return Number.isSafeInteger(id) && ['group', 'supergroup'].includes(textIn(chat, 'type')) ? String(id) : undefined
}

const invalid = (what: string): Unproven => ({ code: 'init-data-invalid', detail: `The initData ${what}: send Telegram.WebApp.initData as it is.` })

/** Decoded; undefined where that cannot be, or a field is there twice: which of them was signed would be a guess. */
const fieldsOf = (text: string): ReadonlyMap<string, string> | undefined => {
  const fields = new Map<string, string>()
  for (const part of text.split('&')) {
    const at = part.indexOf('=')
    const [name, value] = [decoded(part.slice(0, Math.max(at, 0))), decoded(part.slice(at + 1))]
    if (at < 1 || name === undefined || value === undefined || fields.has(name)) return undefined
    fields.set(name, value)
  }
  return fields
}

const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

/** Over every field but the hash itself: `signature`, which is for third parties, is signed here, too. In the order of code points. */
const hmacOf = (fields: ReadonlyMap<string, string>, key: Buffer): Buffer => {
  const signed = [...fields].filter(([name]) => name !== 'hash').sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  return createHmac('sha256', key).update(signed.map(([name, value]) => `${name}=${value}`).join('\n')).digest()
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
