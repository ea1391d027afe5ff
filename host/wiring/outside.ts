import type { Logger } from 'pino'
import type { Outside } from '../../domains/record.ts'
import { createCallBudget, type BudgetParts } from '../../processors/engine/asks/budget.ts'
import type { CallBudget } from '../../projections/ask.ts'
import type { Sessions } from '../../producers/access/sessions.ts'
import type { Config } from '../config/config.ts'
import type { Keys } from './sealing.ts'

interface OutsideParts extends Pick<BudgetParts, 'clock' | 'processName'> {
  readonly config: Pick<Config, 'publicUrl'>
  readonly keys: Keys
  readonly ledger: BudgetParts['store']
  readonly sessions: Sessions
}

/** The functions that edges and handlers of asks get. They share one rate budget per outside service, because a budget reserves calls for its process. */
export const createOutside = ({
  config: { publicUrl },
  keys,
  ledger: store,
  clock,
  processName,
  sessions,
}: OutsideParts): Omit<Outside, 'failed'> => {
  const budgets = new Map<string, CallBudget>()
  return {
    secrets: keys.store.secrets,
    sessions,
    publicUrl,
    clock,
    budget(name, windows) {
      const budget = budgets.get(name) ?? createCallBudget({ store, clock, processName, name, windows })
      budgets.set(name, budget)
      return budget
    },
  }
}

/** Returns the functions for an edge, or for handlers of asks. If an outside service does not answer, the error is logged. */
export const outsideOf = ({ outside }: { readonly outside: Omit<Outside, 'failed'> }, logger: Logger): Outside => ({
  ...outside,
  failed: (error) => logger.warn({ err: error }, 'an outside service did not answer'),
})
