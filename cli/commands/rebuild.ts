import { halfBuilt, isBeingBuilt } from '../../processors/engine/generations/claim.ts'
import { replacedEvenIfLost } from '../../processors/engine/generations/lost.ts'
import { rebuild as rebuildNext } from '../../processors/engine/rebuild/rebuild.ts'
import type { RebuildParts, Rebuilt } from '../../processors/engine/rebuild/rebuild.ts'
import { counted } from '../../schemas/counted.ts'
import { Fault } from '../../schemas/fault.ts'
import { confirm } from '../confirm.ts'
import type { Context } from '../context.ts'
import { flipTo, refuseOtherFolds } from '../../host/serving/flipping.ts'
import { createProcessName } from '../../host/wiring/process-name.ts'
import { createMeter } from '../../host/serving/meter.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'
import { forEachDomain } from '../../host/ipc/domain-access.ts'
import type { DomainAccess } from '../../host/ipc/domain-access.ts'

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

/** Builds in this process, next to a running server, and never blocks its commits. */
export const rebuild = async (context: Context, options: RebuildOptions): Promise<Exit> => {
  if (options.diff === true) return (await import('./diff.ts')).diff(context, options)
  let [parked, declined] = [0, false]
  await forEachDomain(context, options.domain, async (access) => {
    const acceptUnfollowed = options.acceptUnfollowed === true
    if (options.flip && !acceptUnfollowed) await refuseOtherFolds(access, access.domain.foldVersion)
    const parts = await partsOf(context, access, options)
    declined =
      options.flip &&
      options.yes !== true &&
      !(await confirm(
        `Build the next generation of ${access.domain.name} next to generation ${access.serving}, and serve it when it is complete?`,
        { signal: context.signal, input: context.input },
      ))
    if (declined) return context.output.note('Nothing was changed.')
    const rebuilt = await rebuildNext(parts).catch((error: unknown) => rethrow(context, options, error))
    if (options.flip)
      await flipTo(access, rebuilt.generation, {
        signal: context.signal,
        output: context.output,
        acceptParked: options.acceptParked === true,
        acceptUnfollowed,
      })
    parked = rebuilt.parked.length
    printRebuilt(context, options, rebuilt)
  })
  if (declined) return EXIT.failed
  return parked > 0 ? EXIT.parked : EXIT.fine
}

/** The parts of a build. Continues the generation of an interrupted build only with `resume`. */
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
    served: replacedEvenIfLost(() => access.store(access.serving), { domain, log, control }),
    progress: createMeter(output, domain.name, clock.now),
    ...(options.resume === true && incomplete !== undefined ? { resume: incomplete.generation } : {}),
    ...(options.maxWritesPerSecond === undefined ? {} : { writesPerSecond: options.maxWritesPerSecond }),
  }
}

const rethrow = ({ output, signal }: Context, { domain }: RebuildOptions, error: unknown): never => {
  if (signal.aborted)
    output.note(`Stopped. The serving generation is unchanged. To continue: tributary rebuild ${domain} --resume`)
  throw error
}

const printRebuilt = (
  { output }: Context,
  { domain, flip: flipped, json }: RebuildOptions,
  { generation, events, parked, rejected }: Rebuilt,
): void => {
  if (json === true)
    output.line(JSON.stringify({ domain, generation, events, parked: parked.length, rejected, flipped }))
  else
    output.line(
      `generation ${generation} of ${domain}: ${counted(events, 'event')} folded, ${counted(parked.length, 'key')} parked, ${flipped ? 'serving' : 'following, not serving'}${rejected === 0 ? '' : `; the series store rejected ${counted(rejected, 'point')}`}`,
    )
}
