import { halfBuilt } from '../../processors/engine/generations/claim.ts'
import type { Generation } from '../../processors/engine/generations/generation.ts'
import { untilCaughtUp } from '../../processors/engine/proof/compare.ts'
import { diff as diffSides, type Diffed, type Side } from '../../processors/engine/proof/diff.ts'
import { startBuild } from '../../processors/engine/rebuild/rebuild.ts'
import { Fault } from '../../schemas/fault.ts'
import type { Context } from '../context.ts'
import { diffPoints, type PointsDiffed, type PointsParts } from '../diff-points.ts'
import { reportOf, reportText } from '../diff-report.ts'
import { count } from '../../host/serving/meter.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'
import { callOperation } from '../../host/ipc/call-operation.ts'
import { forEachDomain } from '../../host/ipc/domain-access.ts'
import type { DomainAccess } from '../../host/ipc/domain-access.ts'
import { partsOf, type RebuildOptions } from '../rebuild-parts.ts'

const SAMPLE = 20

/**
 * Shows the differences between the serving generation and a generation with the folds of this program. Uses a complete generation, or builds
 * one, which no processor follows. Never flips.
 */
export const diff = async (context: Context, options: RebuildOptions): Promise<Exit> => {
  let differs = false
  const idle: { domain: string; generation: number }[] = []
  await forEachDomain(context, options.domain, async (access) => {
    const { domain, control, serving } = access
    const listed = await control.generations(domain.name)
    const complete = listed.find(
      (each) => each.generation > serving && each.state === 'following' && each.foldVersion === domain.foldVersion,
    )
    const { generation, isNew, ...compared } =
      complete === undefined
        ? await againstBuilt(context, access, options)
        : await againstComplete(context, access, { options, complete })
    const report = await reportOf(access, {
      generation,
      against: listed.find((each) => each.generation === serving) as Generation,
      ...compared,
      sample: options.sample ?? SAMPLE,
    })
    context.output.line(options.json === true ? JSON.stringify(report) : reportText(report, context.output))
    differs ||= report.differs
    if (isNew && !report.differs) idle.push({ domain: domain.name, generation })
    else if (complete === undefined)
      context.output.note(
        `Generation ${generation} is built; no process follows it. To serve it: ${await nextStep(access, listed)}. To remove it: tributary generations ${domain.name} --drop ${generation}.`,
      )
  })
  // A generation that this command built and that has no differences is useless, so it is dropped.
  for (const args of idle) await callOperation(context, { name: 'generations-drop', args })
  return differs ? EXIT.differs : EXIT.fine
}

/**
 * Returns the command with which the user makes the built generation the serving one. Only processes with the fold version of this program can
 * follow the built generation, so the command depends on the processes that run now.
 */
const nextStep = async (
  { domain, serving, serverFoldVersion, isExclusive }: DomainAccess,
  listed: readonly Generation[],
): Promise<string> => {
  const serverVersion = await serverFoldVersion()
  const resume = `tributary rebuild ${domain.name} --resume`
  if ((serverVersion ?? listed.find((each) => each.generation === serving)?.foldVersion) === domain.foldVersion)
    return resume
  if (isExclusive) return 'tributary start of this release'
  return serverVersion === undefined
    ? `start processors of this release next to the running ones, then ${resume}`
    : 'stop the server, and run tributary start of this release'
}

interface Compared {
  readonly generation: number
  readonly diffed: Diffed
  readonly points: PointsDiffed | undefined
  /** True if this comparison began the generation. */
  readonly isNew: boolean
}

/**
 * Compares the serving generation with one that this command builds, or with an interrupted build that it continues. Before each comparison, waits
 * until the serving generation has folded the whole log, and then folds the new events into the built generation.
 */
const againstBuilt = async (context: Context, access: DomainAccess, options: RebuildOptions): Promise<Compared> => {
  const { domain, control, log, clock } = access
  const left = halfBuilt(await control.generations(domain.name), domain.foldVersion)
  if (left !== undefined && options.resume !== true)
    context.output.note(
      `An interrupted rebuild with this fold version left generation ${left.generation} of ${domain.name} incomplete. This command continues it.`,
    )
  const parts = await partsOf(context, access, { ...options, ...(left === undefined ? {} : { resume: true as const }) })
  const building = await startBuild(parts)
  const before = await access.store(access.serving)
  const advance = async (): Promise<Side> => {
    await untilCaughtUp([before], { log, clock, signal: context.signal })
    return building.fold()
  }
  try {
    const { generation } = building
    return {
      generation,
      isNew: left === undefined,
      ...(await compare(context, access, {
        options,
        before,
        advance,
        after: async () => parts.storage.series?.(generation),
      })),
    }
  } finally {
    await building.leave()
  }
}

/** Compares the serving generation with a complete generation that another command built. Processors follow both generations. */
const againstComplete = async (
  context: Context,
  access: DomainAccess,
  { options, complete }: { options: RebuildOptions; complete: Generation },
): Promise<Compared> => {
  const { domain, log, clock } = access
  context.output.note(
    `Generation ${complete.generation} of ${domain.name} exists already and is compared. To build it again: tributary generations ${domain.name} --drop ${complete.generation}.`,
  )
  await access.ensureFollowed()
  const [before, after] = [await access.store(access.serving), await access.store(complete.generation)]
  const advance = async (): Promise<Side> => {
    const reached = await untilCaughtUp([before, after], { log, clock, signal: context.signal })
    // Generations can be compared only if both reach the end of the log. Otherwise they may have folded different events.
    const behind = [access.serving, complete.generation].find((_, index) => reached[index]?.isAtEnd !== true)
    if (behind === undefined) return after
    throw new Fault(
      'generation-behind',
      `Generation ${behind} of ${domain.name} does not follow the log, so there is nothing to compare it with. Start a processor of its fold version, or drop it and build it again.`,
    )
  }
  const followed = async () => {
    const series = await access.series(complete.generation)
    // The processors that follow the generation still use its series, so `close` does nothing.
    return series && { ...series, close: () => Promise.resolve() }
  }
  return {
    generation: complete.generation,
    isNew: false,
    ...(await compare(context, access, { options, before, advance, after: followed })),
  }
}

interface Comparing extends Pick<PointsParts, 'after'> {
  readonly options: RebuildOptions
  readonly before: Side
  readonly advance: () => Promise<Side>
}

const compare = async (
  { output, signal }: Context,
  access: DomainAccess,
  { options, before, advance, after }: Comparing,
): Promise<Pick<Compared, 'diffed' | 'points'>> => {
  const { domain, clock, removesExpired } = access
  const sample = options.sample ?? SAMPLE
  const progress = (items: number): void => output.progress(`${domain.name}: ${count(items)} items compared`)
  const { table, withoutTombstone } = domain
  const diffed = await diffSides({
    table,
    ...(withoutTombstone && { withoutTombstone }),
    before,
    advance,
    removesExpired,
    clock,
    signal,
    sample,
    progress,
  })
  return { diffed, points: await diffPoints(access, { after, advance, sample }) }
}
