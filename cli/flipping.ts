import { flip, type Flipped } from '../processors/engine/flip.ts'
import { counted } from '../schemas/counted.ts'
import { Fault } from '../schemas/fault.ts'
import type { Output } from './output.ts'
import type { Workplace } from './workplace.ts'

const FLIP_TIMEOUT_MS = 60_000

export interface Flipping {
  readonly signal: AbortSignal
  readonly output: Pick<Output, 'progress'>
  readonly acceptParked: boolean
  readonly acceptUnfollowed: boolean
}

/** Makes sure that a processor follows the generation, waits until it is up to date, and flips. */
export const flipTo = async (workplace: Workplace, to: number, { output, ...flipping }: Flipping): Promise<Flipped> => {
  const { domain, log, clock, control, store, alone } = workplace
  const target = (await control.generations(domain.name)).find(({ generation }) => generation === to)
  if (target?.state === 'following' && !flipping.acceptUnfollowed) await refuseOtherFolds(workplace, target.foldVersion)
  await workplace.follow()
  const acceptUnfollowed = flipping.acceptUnfollowed || alone
  return flip({ domain: domain.name, foldVersion: domain.foldVersion, control, log, clock, to, store, timeoutMs: FLIP_TIMEOUT_MS, ...flipping, acceptUnfollowed, progress: catchingUp(output, domain.name) })
}

/** Prints how far a flip has to wait. */
export const catchingUp = (output: Pick<Output, 'progress'>, domain: string) => (generation: number, behind: number): void =>
  output.progress(`${domain}: generation ${generation} catches up, ${counted(behind, 'event')} behind`)

/** Beside a running embedded server, only a generation of its fold version can serve: no other process follows. */
export const refuseOtherFolds = async ({ domain, folds }: Workplace, foldVersion: number): Promise<void> => {
  const has = await folds()
  if (has === undefined || has === foldVersion) return
  throw new Fault('generation-unfollowed', `The running server has fold version ${has} for ${domain.name}, so it would not follow a generation of version ${foldVersion}. Stop it and run tributary start of the release with fold version ${foldVersion}: that release brings its own generation up to date and serves it.`)
}
