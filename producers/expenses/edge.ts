import { accessRefusals } from '../../projections/access/refusals.ts'
import { expensesRefusals } from '../../projections/expenses/refusals.ts'
import { access } from '../access/access.ts'
import { balanceRoutes } from './balance-routes.ts'
import { expenseRoutes } from './expense-routes.ts'
import { exportRoutes } from './export-routes.ts'
import { groupRoutes } from './group-routes.ts'
import { invitationRoutes } from './invitation-routes.ts'
import { meRoutes } from './me-routes.ts'
import { memberRoutes } from './member-routes.ts'
import { ownerRoutes } from './owner-routes.ts'
import { settlementRoutes } from './settlement-routes.ts'
import type { TonCheck } from './ton.ts'
import type { DomainEdge } from '../http/domain.ts'
import { miniAppScheme } from './telegram/mini-app.ts'
import { telegramWebhook } from './telegram/webhook.ts'

export interface ExpensesOutside {
  /** Looks up TON transactions. If this function is absent, only the payee can complete a settlement. */
  readonly ton?: TonCheck
  /** The token of the Mini App's bot, and the secret of the webhook. Without them the edge rejects requests of the Mini App and of Telegram. */
  readonly telegram?: { readonly botToken?: string; readonly webhookSecret?: string }
}

/**
 * The edge of the expenses domain with its outside services. The composition root adds the log and the serving
 * generation.
 */
export const expensesEdgeWith = ({
  ton,
  telegram = {},
}: ExpensesOutside): Pick<
  DomainEdge,
  'name' | 'routes' | 'access' | 'refusals' | 'schemes' | 'webhooks' | 'derives'
> => ({
  name: 'expenses',
  derives: true,
  routes: [
    ...groupRoutes,
    ...memberRoutes,
    ...invitationRoutes,
    ...ownerRoutes,
    ...expenseRoutes,
    ...balanceRoutes,
    ...exportRoutes,
    ...settlementRoutes(ton),
    ...meRoutes,
  ],
  access,
  refusals: [accessRefusals, expensesRefusals],
  schemes: [miniAppScheme(telegram.botToken)],
  webhooks: [telegramWebhook(telegram.webhookSecret)],
})

export const expensesEdge = expensesEdgeWith({})
