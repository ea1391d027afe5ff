import { forgettingBugs } from '../../simulation/bugs-forgetting.ts'
import type { DomainSimulation } from '../../simulation/domain.ts'
import { mealsWorkload } from './workload.ts'

export const mealsSimulation: DomainSimulation = { workload: mealsWorkload, bugs: forgettingBugs('meals') }
