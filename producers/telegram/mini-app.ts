import { Problem } from '../http/problem.ts'
import type { Scheme } from '../http/scheme.ts'
import { initDataKey, readInitData } from './init-data.ts'

const NAME = 'tma'

/** `Authorization: tma <initData>`: whoever opened the bot's Mini App. Without the bot's token nobody can be told apart. */
export const miniAppScheme = (botToken: string | undefined): Scheme => {
  const key = botToken === undefined ? undefined : initDataKey(botToken)
  return {
    name: NAME,
    description: 'Telegram.WebApp.initData of the bot\'s Mini App, as it is.',
    recognise: (initData, now) => {
      if (key === undefined) throw unauthorized('telegram-not-configured', 'This server knows no Telegram bot: set TRIBUTARY_TELEGRAM_BOT_TOKEN, or come with a token of ours.')
      const read = readInitData(initData, { key, now })
      if ('code' in read) throw new Problem(401, read.code, read.detail, CHALLENGE)
      return { user: read.user, profile: read.profile, ...(read.chat !== undefined && { chat: read.chat }) }
    },
  }
}

const CHALLENGE = { headers: { 'www-authenticate': NAME } }

const unauthorized = (code: string, detail: string): Problem => new Problem(401, code, detail, CHALLENGE)
