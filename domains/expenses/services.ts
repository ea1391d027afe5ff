import { expensesEdgeWith } from '../../producers/expenses/edge.ts'
import { telegramSummary } from '../../producers/expenses/telegram/doctor.ts'
import { checkToncenter, createTonCheck } from '../../producers/expenses/ton/toncenter.ts'
import { formed, secret, url, variable } from '../../producers/variables.ts'
import { configurableEdge } from '../record.ts'

const botToken = formed(
  /^\d{1,20}:[A-Za-z0-9_-]{20,100}$/,
  'is not a bot token in the form of BotFather (123456789:AA…)',
)
const webhookSecret = formed(
  /^[A-Za-z0-9_-]{16,256}$/,
  'is not 16 to 256 letters, digits, _ and -. Make one with: openssl rand -hex 32',
)

/** The edge of shared expenses with its outside services: Telegram calls the edge, and the edge calls an API of the TON blockchain. */
export const expensesServices = configurableEdge(
  {
    TRIBUTARY_TELEGRAM_BOT_TOKEN: {
      ...secret(botToken),
      about: 'Token of the bot whose Mini App people open ([Telegram](telegram.md)).',
      unset: 'the Mini App routes answer `telegram-not-configured`',
    },
    TRIBUTARY_TELEGRAM_WEBHOOK_SECRET: {
      ...secret(webhookSecret),
      about: 'The secret that Telegram sends with its updates ([Telegram](telegram.md)).',
      unset: 'the webhook answers `telegram-not-configured`',
    },
    TRIBUTARY_TON_API: {
      ...variable(url, undefined),
      about: 'URL of the API that looks up TON transactions, such as `https://toncenter.com` ([TON](telegram.md#ton)).',
      unset: 'only the payee completes a settlement',
    },
    TRIBUTARY_TON_API_KEY: { ...secret(), about: 'Key for that API.', unset: 'none' },
  },
  (values, mistakes) => {
    const telegram = {
      ...(values.TRIBUTARY_TELEGRAM_BOT_TOKEN && { botToken: values.TRIBUTARY_TELEGRAM_BOT_TOKEN }),
      ...(values.TRIBUTARY_TELEGRAM_WEBHOOK_SECRET && { webhookSecret: values.TRIBUTARY_TELEGRAM_WEBHOOK_SECRET }),
    }
    const { TRIBUTARY_TON_API: api, TRIBUTARY_TON_API_KEY: key } = values
    if (api === undefined && key !== undefined)
      mistakes.push(
        'TRIBUTARY_TON_API_KEY is set, but TRIBUTARY_TON_API is not. Set TRIBUTARY_TON_API to the URL of the API, or unset the key.',
      )
    return {
      edge: ({ failed }) =>
        expensesEdgeWith({ telegram, ...(api !== undefined && { ton: createTonCheck({ api, key, failed }) }) }),
      checks: [
        ...(Object.keys(telegram).length > 0 ? [{ name: 'Telegram', check: () => telegramSummary(telegram) }] : []),
        ...(api !== undefined ? [{ name: 'TON', check: () => checkToncenter({ api, key }) }] : []),
      ],
    }
  },
)
