import { flip, type Flipped } from '../processors/engine/flip.ts'
import { Fault } from '../schemas/fault.ts'
import type { Workplace } from './workplace.ts'

const FLIP_TIMEOUT_MS = 60_000

export interface Flipping {
  readonly signal: AbortSignal
  readonly acceptParked: boolean
  readonly acceptUnfollowed: boolean
}

/** Makes sure that somebody follows, and flips. */
export const flipTo = async (workplace: Workplace, to: number, flipping: Flipping): Promise<Flipped> => {
  const { domain, log, clock, control, store, alone } = workplace
  const target = (await control.generations(domain.name)).find(({ generation }) => generation === to)
  if (target?.state === 'following' && !flipping.acceptUnfollowed) await refuseOtherFolds(workplace, target.foldVersion, 'Stop it, flip then, and run tributary start of the release that has them.')
  await workplace.follow()
  const acceptUnfollowed = flipping.acceptUnfollowed || alone
  return flip({ domain: domain.name, foldVersion: domain.foldVersion, control, log, clock, to, store, timeoutMs: FLIP_TIMEOUT_MS, ...flipping, acceptUnfollowed })
}

/** Where one server alone follows, only its own folds can serve. */
export const refuseOtherFolds = async ({ domain, folds }: Workplace, foldVersion: number, then: string): Promise<void> => {
  const has = await folds()
  if (has === undefined || has === foldVersion) return
  throw new Fault('generation-unfollowed', `The running server has folds of version ${has}, so nobody would follow a generation of ${domain.name} made by version ${foldVersion}. ${then}`)
}
