import { halfBuilt } from '../../processors/engine/claim.ts'
import type { Generation } from '../../processors/engine/control.ts'
import { untilReached } from '../../processors/engine/compare.ts'
import { diff as diffSides, type Diffed, type Side } from '../../processors/engine/diff.ts'
import { startBuild } from '../../processors/engine/rebuild.ts'
import { Fault } from '../../schemas/fault.ts'
import type { Context } from '../context.ts'
import { diffPoints, type PointsDiffed, type PointsParts } from '../diff-points.ts'
import { reportOf, reportText } from '../diff-report.ts'
import { count } from '../meter.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'
import { ask } from '../reach.ts'
import { inWorkplaces } from '../workplace.ts'
import type { Workplace } from '../workplace.ts'
import { partsOf, type RebuildOptions } from './rebuild.ts'

const SAMPLE = 20

/** What the folds of this program would change, before anybody sees it: nothing follows what is built, and nothing is flipped. */
export const diff = async (context: Context, options: RebuildOptions): Promise<Exit> => {
  let differs = false
  const idle: { domain: string; generation: number }[] = []
  await inWorkplaces(context, options.domain, async (workplace) => {
    const { domain, control, serving } = workplace
    const listed = await control.generations(domain.name)
    const made = listed.find((each) => each.generation > serving && each.state === 'following' && each.foldVersion === domain.foldVersion)
    const { generation, isNew, ...compared } = made === undefined ? await againstBuilt(context, workplace, options) : await againstComplete(context, workplace, { options, made })
    const report = await reportOf(workplace, { generation, against: listed.find((each) => each.generation === serving) as Generation, ...compared, sample: options.sample ?? SAMPLE })
    context.output.line(options.json === true ? JSON.stringify(report) : reportText(report, context.output))
    differs ||= report.differs
    if (isNew && !report.differs) idle.push({ domain: domain.name, generation })
    else if (made === undefined) context.output.note(`Generation ${generation} is built; nobody follows it. To serve it: ${await nextStep(workplace, listed)}. To remove it: tributary generations ${domain.name} --drop ${generation}.`)
  })
  // As what serves already, to nobody's use.
  for (const args of idle) await ask(context, { name: 'generations-drop', args })
  return differs ? EXIT.differs : EXIT.fine
}

/** Whoever is to follow it must have these folds. */
const nextStep = async ({ domain, serving, folds, alone }: Workplace, listed: readonly Generation[]): Promise<string> => {
  const server = await folds()
  const resume = `tributary rebuild ${domain.name} --resume`
  if ((server ?? listed.find((each) => each.generation === serving)?.foldVersion) === domain.foldVersion) return resume
  if (alone) return 'tributary start of this release'
  return server === undefined ? `start processors of this release beside those that run, then ${resume}` : 'stop the server, and run tributary start of this release'
}

interface Compared {
  readonly generation: number
  readonly diffed: Diffed
  readonly points: PointsDiffed | undefined
  /** Begun for this comparison alone. */
  readonly isNew: boolean
}

/** Builds it, or goes on with what was left half-built, and folds on as the serving one moves. */
const againstBuilt = async (context: Context, workplace: Workplace, options: RebuildOptions): Promise<Compared> => {
  const { domain, control, log, clock } = workplace
  const left = halfBuilt(await control.generations(domain.name), domain.foldVersion)
  if (left !== undefined && options.resume !== true) context.output.note(`Generation ${left.generation} of ${domain.name} was left half-built by folds of this version, and is gone on with.`)
  const parts = await partsOf(context, workplace, { ...options, ...(left === undefined ? {} : { resume: true as const }) })
  const building = await startBuild(parts)
  const before = await workplace.store(workplace.serving)
  const advance = async (): Promise<Side> => {
    await untilReached([before], { log, clock, signal: context.signal })
    return building.fold()
  }
  try {
    const { generation } = building
    return { generation, isNew: left === undefined, ...(await compare(context, workplace, { options, before, advance, after: async () => parts.workshop.series?.(generation) })) }
  } finally {
    await building.leave()
  }
}

/** Another command made it, and processors follow it like the serving one. */
const againstComplete = async (context: Context, workplace: Workplace, { options, made }: { options: RebuildOptions; made: Generation }): Promise<Compared> => {
  const { domain, log, clock } = workplace
  context.output.note(`Generation ${made.generation} of ${domain.name} is there already, and is what is compared; to build it anew: tributary generations ${domain.name} --drop ${made.generation}.`)
  await workplace.follow()
  const [before, after] = [await workplace.store(workplace.serving), await workplace.store(made.generation)]
  const advance = async (): Promise<Side> => {
    const reached = await untilReached([before, after], { log, clock, signal: context.signal })
    // A generation that makes no progress before the end of the log cannot be compared with the other one.
    const behind = [workplace.serving, made.generation].find((_, index) => reached[index]?.isAtEnd !== true)
    if (behind === undefined) return after
    throw new Fault('generation-behind', `Generation ${behind} of ${domain.name} does not follow the log, so there is nothing to compare it with. Start a processor of its fold version, or drop it and build it anew.`)
  }
  const followed = async () => {
    const series = await workplace.series(made.generation)
    // It stays open for those who follow it.
    return series && { ...series, close: () => Promise.resolve() }
  }
  return { generation: made.generation, isNew: false, ...(await compare(context, workplace, { options, before, advance, after: followed })) }
}

interface Comparing extends Pick<PointsParts, 'after'> {
  readonly options: RebuildOptions
  readonly before: Side
  readonly advance: () => Promise<Side>
}

const compare = async ({ output, signal }: Context, workplace: Workplace, { options, before, advance, after }: Comparing): Promise<Pick<Compared, 'diffed' | 'points'>> => {
  const { domain, clock, collects } = workplace
  const sample = options.sample ?? SAMPLE
  const progress = (items: number): void => output.progress(`${domain.name}: ${count(items)} items compared`)
  const diffed = await diffSides({ table: domain.table, before, advance, collects, clock, signal, sample, progress })
  return { diffed, points: await diffPoints(workplace, { after, advance, sample }) }
}
