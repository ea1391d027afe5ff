import type { DomainSimulation } from '../../simulation/domain.ts'
import { ACTIVITIES_BUGS } from './bugs.ts'
import { activitiesWorkload } from './workload.ts'

export const activitiesSimulation: DomainSimulation = { workload: activitiesWorkload, bugs: ACTIVITIES_BUGS }
