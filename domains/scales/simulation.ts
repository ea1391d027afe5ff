import type { DomainSimulation } from '../../simulation/domain.ts'
import { SCALES_BUGS, SERIES_BUGS } from './bugs.ts'
import { scalesWorkload } from './workload.ts'

export const scalesSimulation: DomainSimulation = { workload: scalesWorkload, bugs: { ...SCALES_BUGS, ...SERIES_BUGS } }
