import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Mistake } from '../../http/problem.ts'
import { memberOf, textMember } from '../../json-member.ts'
import { telegramUser, type TelegramUser } from './person.ts'

export type InvalidInitData = Pick<Mistake, 'code' | 'detail'>

/** `initData` is valid for a day, as in Telegram's own libraries. Its time can be up to a minute in the future, because clocks differ. */
const GOOD_SECONDS = 86_400
const AHEAD_SECONDS = 60
/** Longer `initData` is rejected. The `initData` that Telegram creates is shorter than 2 KiB. */
const MOST_CHARACTERS = 8192

/** Returns the HMAC key that verifies the `initData` of a bot. */
export const initDataKey = (botToken: string): Buffer => createHmac('sha256', 'WebAppData').update(botToken).digest()

export interface MiniAppUser extends TelegramUser {
  /** The id of the group chat in which the user opened the Mini App. Telegram includes it only if the user used the attachment menu of the chat. */
  readonly chat?: string
}

/** Returns the user who opened the Mini App, or the reason why the `initData` is invalid. */
export const readInitData = (
  initData: string,
  { key, now }: { key: Buffer; now: number },
): MiniAppUser | InvalidInitData => {
  const fields = initData.length > MOST_CHARACTERS ? undefined : fieldsOf(initData)
  if (fields === undefined) return invalid('is not a query string, or has a field twice')
  const hash = fields.get('hash') ?? ''
  if (!/^[0-9a-f]{64}$/.test(hash)) return invalid('has no hash')
  if (!timingSafeEqual(hmacOf(fields, key), Buffer.from(hash, 'hex')))
    return invalid('was not signed with the token of this bot, or was changed')
  const age = now / 1000 - Number(/^\d{1,12}$/.exec(fields.get('auth_date') ?? '')?.[0] ?? Number.NaN)
  if (!(age >= -AHEAD_SECONDS)) return invalid('has no auth_date, or one in the future')
  if (age > GOOD_SECONDS)
    return { code: 'init-data-expired', detail: 'The initData is older than a day. Open the Mini App again.' }
  const user = telegramUser(parsed(fields.get('user') ?? ''))
  const chat = groupChatOf(parsed(fields.get('chat') ?? ''))
  return user === undefined ? invalid('names no user') : { ...user, ...(chat !== undefined && { chat }) }
}

/** The id of a group or a supergroup. Undefined for other chats. */
const groupChatOf = (chat: unknown): string | undefined => {
  const id = memberOf(chat, 'id')
  return Number.isSafeInteger(id) && ['group', 'supergroup'].includes(textMember(chat, 'type')) ? String(id) : undefined
}

const invalid = (what: string): InvalidInitData => ({
  code: 'init-data-invalid',
  detail: `The initData ${what}. Send Telegram.WebApp.initData unchanged.`,
})

/**
 * The decoded fields. Undefined if the text cannot be decoded, or if it has a field twice, because it is unclear which of the two values was
 * signed.
 */
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

/**
 * The HMAC over all fields except `hash`, sorted by name in the order of code points. The field `signature` is included: Telegram adds this
 * signature for third parties.
 */
const hmacOf = (fields: ReadonlyMap<string, string>, key: Buffer): Buffer => {
  const signed = [...fields]
    .filter(([name]) => name !== 'hash')
    .sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  return createHmac('sha256', key)
    .update(signed.map(([name, value]) => `${name}=${value}`).join('\n'))
    .digest()
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
