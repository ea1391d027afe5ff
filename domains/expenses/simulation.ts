import { placeBugs } from '../../simulation/bugs-forgetting.ts'
import type { DomainSimulation } from '../../simulation/domain.ts'
import { EXPENSES_BUGS } from './bugs.ts'
import { expensesWorkload } from './workload.ts'

export const expensesSimulation: DomainSimulation = {
  workload: expensesWorkload,
  bugs: { ...EXPENSES_BUGS, ...placeBugs('expenses') },
}
