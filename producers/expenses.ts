import { access } from './access.ts'
import { balanceRoutes } from './expenses/balance-routes.ts'
import { expenseRoutes } from './expenses/expense-routes.ts'
import { groupRoutes } from './expenses/group-routes.ts'
import { meRoutes } from './expenses/me-routes.ts'
import { memberRoutes } from './expenses/member-routes.ts'
import { settlementRoutes } from './expenses/settlement-routes.ts'
import type { TonCheck } from './expenses/ton.ts'
import type { DomainEdge } from './http/domain.ts'

export interface ExpensesOutside {
  /** Who asks the chain about transactions; without it, people's word counts. */
  readonly ton?: TonCheck
}

/** Shared expenses at the edge: what the composition root adds is how to reach the log and the serving generation, and who is asked outside. */
export const expensesEdgeWith = ({ ton }: ExpensesOutside): Pick<DomainEdge, 'name' | 'routes' | 'access'> => ({
  name: 'expenses',
  routes: [...groupRoutes, ...memberRoutes, ...expenseRoutes, ...balanceRoutes, ...settlementRoutes(ton), ...meRoutes],
  access,
})

export const expensesEdge = expensesEdgeWith({})
