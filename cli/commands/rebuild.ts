import { halfBuilt, isBeingBuilt } from '../../processors/engine/claim.ts'
import { replacedEvenIfLost } from '../../processors/engine/lost.ts'
import { rebuild as rebuildNext } from '../../processors/engine/rebuild.ts'
import type { RebuildParts, Rebuilt } from '../../processors/engine/rebuild.ts'
import { counted } from '../../schemas/counted.ts'
import { Fault } from '../../schemas/fault.ts'
import { confirm } from '../confirm.ts'
import type { Context } from '../context.ts'
import { flipTo, refuseOtherFolds } from '../flipping.ts'
import { holderName } from '../holder.ts'
import { createMeter } from '../meter.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'
import { inWorkplaces } from '../workplace.ts'
import type { Workplace } from '../workplace.ts'

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

/** Builds in this process, beside a running server, whose commits it never blocks. */
export const rebuild = async (context: Context, options: RebuildOptions): Promise<Exit> => {
  if (options.diff === true) return (await import('./diff.ts')).diff(context, options)
  let [parked, declined] = [0, false]
  await inWorkplaces(context, options.domain, async (workplace) => {
    const acceptUnfollowed = options.acceptUnfollowed === true
    if (options.flip && !acceptUnfollowed) await refuseOtherFolds(workplace, workplace.domain.foldVersion)
    const parts = await partsOf(context, workplace, options)
    declined = options.flip && options.yes !== true && !(await confirm(`Build the next generation of ${workplace.domain.name} beside generation ${workplace.serving}, and serve it when it is done?`, { signal: context.signal, input: context.input }))
    if (declined) return context.output.note('Nothing was done.')
    const rebuilt = await rebuildNext(parts).catch((error: unknown) => told(context, options, error))
    if (options.flip) await flipTo(workplace, rebuilt.generation, { signal: context.signal, output: context.output, acceptParked: options.acceptParked === true, acceptUnfollowed })
    parked = rebuilt.parked.length
    tell(context, options, rebuilt)
  })
  if (declined) return EXIT.failed
  return parked > 0 ? EXIT.parked : EXIT.fine
}

/** What a build needs here. A generation that was left half-built is gone on with only when that is asked for. */
export const partsOf = async ({ output, signal }: Context, workplace: Workplace, options: RebuildOptions): Promise<RebuildParts> => {
  const { domain, log, codec, clock, control } = workplace
  const left = halfBuilt(await control.generations(domain.name), domain.foldVersion)
  if (options.resume === true && left === undefined) {
    throw new Fault('nothing-to-resume', `No generation of ${domain.name} was left half-built by folds of version ${domain.foldVersion}. Build one: tributary rebuild ${domain.name}.`)
  }
  const workshop = await workplace.workshop()
  if (options.resume !== true && left !== undefined && !(await isBeingBuilt(left, workshop))) {
    output.note(`Generation ${left.generation} of ${domain.name} was left half-built: --resume goes on with it, tributary generations ${domain.name} --drop ${left.generation} removes it.`)
  }
  return {
    domain, log, codec, clock, control, signal, workshop,
    holder: holderName(),
    served: replacedEvenIfLost(() => workplace.store(workplace.serving), { domain, log, control }),
    progress: createMeter(output, domain.name, clock.now),
    ...(options.resume === true && left !== undefined ? { resume: left.generation } : {}),
    ...(options.maxWritesPerSecond === undefined ? {} : { writesPerSecond: options.maxWritesPerSecond }),
  }
}

const told = ({ output, signal }: Context, { domain }: RebuildOptions, error: unknown): never => {
  if (signal.aborted) output.note(`Stopped; nothing that serves was touched. Go on with: tributary rebuild ${domain} --resume`)
  throw error
}

const tell = ({ output }: Context, { domain, flip: flipped, json }: RebuildOptions, { generation, events, parked, rejected }: Rebuilt): void => {
  if (json === true) output.line(JSON.stringify({ domain, generation, events, parked: parked.length, rejected, flipped }))
  else output.line(`generation ${generation} of ${domain}: ${counted(events, 'event')} folded, ${counted(parked.length, 'key')} parked, ${flipped ? 'serving' : 'following, not serving'}${rejected === 0 ? '' : `; ${counted(rejected, 'point')} that the series store will not take`}`)
}
