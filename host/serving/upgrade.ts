import { halfBuilt } from '../../processors/engine/generations/claim.ts'
import type { Generation } from '../../processors/engine/generations/generation.ts'
import { flip } from '../../processors/engine/generations/flip.ts'
import { replacedEvenIfLost } from '../../processors/engine/generations/lost.ts'
import { rebuild } from '../../processors/engine/rebuild/rebuild.ts'
import { counted } from '../../schemas/counted.ts'
import type { CommandContext } from '../ipc/command-context.ts'
import { waitingAsksText } from './domain-status.ts'
import { catchingUp } from './flipping.ts'
import { createProcessName } from '../wiring/process-name.ts'
import { createMeter } from './meter.ts'
import type { Pipeline } from '../../processors/engine/run/pipeline.ts'
import { isEmbedded } from '../wiring/runtime.ts'
import type { Runtime } from '../wiring/runtime.ts'

const FLIP_TIMEOUT_MS = 60_000

type Upgrading = Pick<CommandContext, 'output' | 'signal'>

/**
 * Handles a serving generation whose fold version differs from this release's, newer or older.
 *
 * If the log or the items are embedded, no other process could follow the serving generation. So this release brings the newest generation of
 * its own fold version up to date, or builds one, and flips to it. On Kafka and DynamoDB, processors of the other release may follow the
 * serving generation. So this function only prints the next command for the operator.
 */
export const upgrade = async (runtime: Runtime, pipeline: Pipeline, context: Upgrading): Promise<void> => {
  const { domain, control } = pipeline
  const listed = await control.generations(domain.name)
  const { generation: served } = await control.serving(domain.name)
  const serving = listed.find(({ generation }) => generation === served)
  if (serving === undefined || serving.foldVersion === domain.foldVersion) return
  const own = listed.findLast(
    ({ state, foldVersion }) => state === 'following' && foldVersion === domain.foldVersion,
  )?.generation
  const differs = `${domain.name}: generation ${serving.generation} serves with fold version ${serving.foldVersion}; this release has version ${domain.foldVersion}`
  const unavailable =
    pipeline.unreadable() === undefined ? '' : `. Until then the edge of this release answers 503 for ${domain.name}`
  if (!isEmbedded(runtime.config))
    return context.output.note(`${differs}${nextStep(domain, listed, own)}${unavailable}`)
  context.output.note(
    `${differs} and ${own === undefined ? 'builds a generation of its own' : `brings generation ${own} up to date`} before it serves`,
  )
  await serveOwn(runtime, pipeline, { ...context, own, half: halfBuilt(listed, domain.foldVersion)?.generation })
}

const nextStep = (
  { name, foldVersion }: Pipeline['domain'],
  listed: readonly Generation[],
  own: number | undefined,
): string => {
  if (own !== undefined)
    return `, and its processors follow generation ${own}. To serve that one: tributary flip ${name} --to ${own}`
  return `. To build its generation and serve it: tributary rebuild ${name}${halfBuilt(listed, foldVersion) === undefined ? '' : ' --resume'}`
}

interface Own extends Upgrading {
  /** The complete generation of this release's fold version, if there is one. */
  readonly own: number | undefined
  /** The incomplete generation of this release's fold version, if there is one. */
  readonly half: number | undefined
}

const serveOwn = async (runtime: Runtime, pipeline: Pipeline, { own, half, ...context }: Own): Promise<void> => {
  const { domain, control, log, admin } = pipeline
  const { clock } = runtime
  const to = own ?? (await rebuildHere(runtime, pipeline, { ...context, resume: half }))
  await pipeline.start('processor')
  const store = async (generation: number) => (await pipeline.generation(generation)).store
  const progress = catchingUp(context.output, domain.name)
  const { waitingAsks } = await flip({
    domain: domain.name,
    foldVersion: domain.foldVersion,
    control,
    log,
    admin,
    clock,
    to,
    store,
    progress,
    timeoutMs: FLIP_TIMEOUT_MS,
    signal: context.signal,
  })
  await pipeline.refresh()
  context.output.note(`${domain.name}: generation ${to} serves now`)
  const waiting = waitingAsksText(domain.name, waitingAsks)
  if (waiting !== undefined) context.output.note(waiting)
}

const rebuildHere = async (
  { adapters, clock }: Runtime,
  pipeline: Pipeline,
  { output, signal, resume }: Upgrading & { readonly resume: number | undefined },
): Promise<number> => {
  const { domain, log, codec, control } = pipeline
  const { generation: served } = await control.serving(domain.name)
  const { generation, events, omitted } = await rebuild({
    domain,
    log,
    codec,
    clock,
    control,
    signal,
    holder: createProcessName(),
    served: replacedEvenIfLost(async () => (await pipeline.generation(served)).store, { domain, log, control, clock }),
    storage: adapters.buildStorage(domain),
    progress: createMeter(output, domain.name, clock.now),
    ...(resume === undefined ? {} : { resume }),
  })
  output.note(`${domain.name}: ${counted(events, 'event')} folded into generation ${generation}`)
  if (omitted > 0)
    output.note(`${domain.name}: the events derived from ${counted(omitted, 'event')} are too old to be sent`)
  return generation
}
