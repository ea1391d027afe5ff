/**
 * Returns a sentence for `tributary doctor`: the requests of Telegram that this server accepts. The command tests no connection, because
 * Telegram calls this server.
 */
export const telegramSummary = ({
  botToken,
  webhookSecret,
}: {
  readonly botToken?: string
  readonly webhookSecret?: string
}): string => {
  const miniApp =
    botToken === undefined
      ? 'the edge rejects initData (TRIBUTARY_TELEGRAM_BOT_TOKEN is not set)'
      : `the edge accepts initData of the bot ${botToken.slice(0, botToken.indexOf(':'))}`
  const updates =
    webhookSecret === undefined
      ? 'it rejects updates (TRIBUTARY_TELEGRAM_WEBHOOK_SECRET is not set)'
      : 'it accepts updates at /webhooks/telegram'
  return `${miniApp}; ${updates}`
}
