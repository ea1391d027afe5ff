import { flip, type Flipped } from '../../processors/engine/generations/flip.ts'
import { counted } from '../../schemas/counted.ts'
import { Fault } from '../../schemas/fault.ts'
import type { CommandOutput } from '../ipc/command-context.ts'
import type { DomainAccess } from '../ipc/domain-access.ts'

const FLIP_TIMEOUT_MS = 60_000

export interface Flipping {
  readonly signal: AbortSignal
  readonly output: Pick<CommandOutput, 'progress'>
  readonly acceptParked: boolean
  readonly acceptUnfollowed: boolean
}

/** Makes sure that a processor follows the generation, waits until the generation is up to date, and flips to it. */
export const flipTo = async (access: DomainAccess, to: number, { output, ...flipping }: Flipping): Promise<Flipped> => {
  const { domain, log, admin, clock, control, store, isExclusive } = access
  const target = (await control.generations(domain.name)).find(({ generation }) => generation === to)
  if (target?.state === 'following' && !flipping.acceptUnfollowed) await refuseOtherFolds(access, target.foldVersion)
  await access.ensureFollowed()
  const acceptUnfollowed = flipping.acceptUnfollowed || isExclusive
  return flip({
    domain: domain.name,
    foldVersion: domain.foldVersion,
    control,
    log,
    admin,
    clock,
    to,
    store,
    timeoutMs: FLIP_TIMEOUT_MS,
    ...flipping,
    acceptUnfollowed,
    progress: catchingUp(output, domain.name),
  })
}

/** Returns a function that prints how many events the generation must still fold before the flip. */
export const catchingUp =
  (output: Pick<CommandOutput, 'progress'>, domain: string) =>
  (generation: number, behind: number): void =>
    output.progress(`${domain}: generation ${generation} catches up, ${counted(behind, 'event')} behind`)

/** Fault: `generation-unfollowed` if a running embedded server has another fold version, because no other process could follow the generation. */
export const refuseOtherFolds = async (
  { domain, serverFoldVersion }: DomainAccess,
  foldVersion: number,
): Promise<void> => {
  const serverVersion = await serverFoldVersion()
  if (serverVersion === undefined || serverVersion === foldVersion) return
  throw new Fault(
    'generation-unfollowed',
    `The running server has fold version ${serverVersion} for ${domain.name}, so it would not follow a generation of version ${foldVersion}. Stop it and run tributary start of the release with fold version ${foldVersion}: that release brings its own generation up to date and serves it.`,
  )
}
