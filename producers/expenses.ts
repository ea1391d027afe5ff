import { accessRefusals } from '../projections/access/refusals.ts'
import { expensesRefusals } from '../projections/expenses/refusals.ts'
import { access } from './access.ts'
import { balanceRoutes } from './expenses/balance-routes.ts'
import { expenseRoutes } from './expenses/expense-routes.ts'
import { exportRoutes } from './expenses/export-routes.ts'
import { groupRoutes } from './expenses/group-routes.ts'
import { invitationRoutes } from './expenses/invitation-routes.ts'
import { meRoutes } from './expenses/me-routes.ts'
import { memberRoutes } from './expenses/member-routes.ts'
import { ownerRoutes } from './expenses/owner-routes.ts'
import { settlementRoutes } from './expenses/settlement-routes.ts'
import type { TonCheck } from './expenses/ton.ts'
import type { DomainEdge } from './http/domain.ts'
import { miniAppScheme } from './telegram/mini-app.ts'
import { telegramWebhook } from './telegram/webhook.ts'

export interface ExpensesOutside {
  /** Looks up TON transactions. Without it only the payee completes a settlement. */
  readonly ton?: TonCheck
  /** The bot whose Mini App people come by, and the secret with which Telegram tells of chats. */
  readonly telegram?: { readonly botToken?: string; readonly webhookSecret?: string }
}

/** Shared expenses at the edge: what the composition root adds is how to reach the log and the serving generation, and who is asked outside. */
export const expensesEdgeWith = ({ ton, telegram = {} }: ExpensesOutside): Pick<DomainEdge, 'name' | 'routes' | 'access' | 'refusals' | 'schemes' | 'webhooks' | 'derives'> => ({
  name: 'expenses',
  derives: true,
  routes: [...groupRoutes, ...memberRoutes, ...invitationRoutes, ...ownerRoutes, ...expenseRoutes, ...balanceRoutes, ...exportRoutes, ...settlementRoutes(ton), ...meRoutes],
  access,
  refusals: [accessRefusals, expensesRefusals],
  schemes: [miniAppScheme(telegram.botToken)],
  webhooks: [telegramWebhook(telegram.webhookSecret)],
})

export const expensesEdge = expensesEdgeWith({})
