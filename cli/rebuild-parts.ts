import type { DomainAccess } from '../host/ipc/domain-access.ts'
import { createMeter } from '../host/serving/meter.ts'
import { createProcessName } from '../host/wiring/process-name.ts'
import { halfBuilt, isBeingBuilt } from '../processors/engine/generations/claim.ts'
import { replacedEvenIfLost } from '../processors/engine/generations/lost.ts'
import type { RebuildParts } from '../processors/engine/rebuild/rebuild.ts'
import { Fault } from '../schemas/fault.ts'
import type { Context } from './context.ts'

export interface RebuildOptions {
  readonly domain: string
  readonly flip: boolean
  readonly diff?: true
  readonly sample?: number
  readonly resume?: true
  readonly maxWritesPerSecond?: number
  readonly acceptParked?: true
  readonly acceptUnfollowed?: true
  readonly yes?: true
  readonly json?: true
}

/**
 * Returns the ports and settings of a build. With `resume`, the build continues an interrupted build. Otherwise it begins a new generation.
 * Fault: `nothing-to-resume` if `resume` is set and no build was interrupted.
 */
export const partsOf = async (
  { output, signal }: Context,
  access: DomainAccess,
  options: RebuildOptions,
): Promise<RebuildParts> => {
  const { domain, log, codec, clock, control } = access
  const incomplete = halfBuilt(await control.generations(domain.name), domain.foldVersion)
  if (options.resume === true && incomplete === undefined) {
    throw new Fault(
      'nothing-to-resume',
      `There is no incomplete generation of ${domain.name} with fold version ${domain.foldVersion}. Build one: tributary rebuild ${domain.name}.`,
    )
  }
  const storage = await access.storage()
  if (options.resume !== true && incomplete !== undefined && !(await isBeingBuilt(incomplete, storage))) {
    output.note(
      `Generation ${incomplete.generation} of ${domain.name} is incomplete. --resume continues it, tributary generations ${domain.name} --drop ${incomplete.generation} removes it.`,
    )
  }
  return {
    domain,
    log,
    codec,
    clock,
    control,
    signal,
    storage,
    holder: createProcessName(),
    served: replacedEvenIfLost(() => access.store(access.serving), { domain, log, control, clock }),
    progress: createMeter(output, domain.name, clock.now),
    ...(options.resume === true && incomplete !== undefined ? { resume: incomplete.generation } : {}),
    ...(options.maxWritesPerSecond === undefined ? {} : { writesPerSecond: options.maxWritesPerSecond }),
  }
}
