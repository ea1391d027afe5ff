/**
 * A sentence for `tributary doctor` about what this server accepts from Telegram. Telegram calls this server, so
 * there is no service to reach.
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
