import { Problem } from '../../http/problem.ts'
import type { Scheme } from '../../http/scheme.ts'
import { initDataKey, readInitData } from './init-data.ts'

const NAME = 'tma'

/**
 * `Authorization: tma <initData>` authenticates the user who opened the bot's Mini App. Without the bot's token,
 * every request is rejected.
 */
export const miniAppScheme = (botToken: string | undefined): Scheme => {
  const key = botToken === undefined ? undefined : initDataKey(botToken)
  return {
    name: NAME,
    description: "Telegram.WebApp.initData of the bot's Mini App, unchanged.",
    recognise: (initData, now) => {
      if (key === undefined)
        throw unauthorized(
          'telegram-not-configured',
          'This server has no Telegram bot. Set TRIBUTARY_TELEGRAM_BOT_TOKEN, or send a personal access token.',
        )
      const read = readInitData(initData, { key, now })
      if ('code' in read) throw new Problem(401, read.code, read.detail, CHALLENGE)
      return { user: read.user, profile: read.profile, ...(read.chat !== undefined && { place: read.chat }) }
    },
  }
}

const CHALLENGE = { headers: { 'www-authenticate': NAME } }

const unauthorized = (code: string, detail: string): Problem => new Problem(401, code, detail, CHALLENGE)
