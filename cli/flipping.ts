import { flip, type Flipped } from '../processors/engine/flip.ts'
import type { Workplace } from './workplace.ts'

const FLIP_TIMEOUT_MS = 60_000

export interface Flipping {
  readonly signal: AbortSignal
  readonly acceptParked: boolean
}

/** Makes sure that somebody follows, and flips. */
export const flipTo = async (workplace: Workplace, to: number, flipping: Flipping): Promise<Flipped> => {
  const { domain, log, clock, control, store } = workplace
  await workplace.follow()
  return flip({ domain: domain.name, foldVersion: domain.foldVersion, control, log, clock, to, store, timeoutMs: FLIP_TIMEOUT_MS, ...flipping })
}
