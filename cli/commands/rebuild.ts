import { rebuild as rebuildNext } from '../../processors/engine/rebuild/rebuild.ts'
import type { Rebuilt } from '../../processors/engine/rebuild/rebuild.ts'
import { counted } from '../../schemas/counted.ts'
import { confirm } from '../confirm.ts'
import type { Context } from '../context.ts'
import { flipTo, refuseOtherFolds } from '../../host/serving/flipping.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'
import { forEachDomain } from '../../host/ipc/domain-access.ts'
import { partsOf, type RebuildOptions } from '../rebuild-parts.ts'

/**
 * Builds the next generation in this process, and never blocks the commits of a running server. Then flips to it, unless `flip` is false.
 * With `diff`, compares the generations instead, and never flips.
 */
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
    const flipped =
      options.flip &&
      (await flipTo(access, rebuilt.generation, {
        signal: context.signal,
        output: context.output,
        acceptParked: options.acceptParked === true,
        acceptUnfollowed,
      }))
    parked = rebuilt.parked.length
    printRebuilt(context, options, { ...rebuilt, ...(flipped !== false && { changingAsks: flipped.waitingAsks }) })
  })
  if (declined) return EXIT.failed
  return parked > 0 ? EXIT.parked : EXIT.fine
}

const rethrow = ({ output, signal }: Context, { domain }: RebuildOptions, error: unknown): never => {
  if (signal.aborted)
    output.note(`Stopped. The serving generation is unchanged. To continue: tributary rebuild ${domain} --resume`)
  throw error
}

const printRebuilt = (
  { output }: Context,
  { domain, flip: flipped, json }: RebuildOptions,
  { generation, events, parked, rejected, omitted, changingAsks }: Rebuilt,
): void => {
  if (json === true)
    output.line(
      JSON.stringify({
        domain,
        generation,
        events,
        parked: parked.length,
        rejected,
        omitted,
        waitingAsks: changingAsks,
        flipped,
      }),
    )
  else
    output.line(
      `generation ${generation} of ${domain}: ${counted(events, 'event')} folded, ${counted(parked.length, 'key')} parked, ${flipped ? 'serving' : 'following, not serving'}${rejected === 0 ? '' : `; the series store rejected ${counted(rejected, 'point')}`}${omitted === 0 ? '' : `; the events derived from ${counted(omitted, 'event')} are too old to be sent`}${changingAsks === 0 ? '' : `; ${changingAsksText(changingAsks, flipped)}`}`,
    )
}

const changingAsksText = (count: number, flipped: boolean): string =>
  flipped
    ? `${counted(count, 'call')} of outside services ${count === 1 ? 'waits' : 'wait'} for an operator: tributary asks`
    : `after a flip, ${counted(count, 'call')} of outside services ${count === 1 ? 'waits' : 'wait'} for an operator`
