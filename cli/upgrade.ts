import { halfBuilt } from '../processors/engine/claim.ts'
import { flip } from '../processors/engine/flip.ts'
import { evenIfLost } from '../processors/engine/lost.ts'
import { groupOf } from '../processors/engine/processor.ts'
import { rebuild } from '../processors/engine/rebuild.ts'
import { counted } from '../schemas/counted.ts'
import { Fault } from '../schemas/fault.ts'
import type { Context } from './context.ts'
import { holderName } from './holder.ts'
import { createMeter } from './meter.ts'
import type { Pipeline } from '../processors/engine/pipeline.ts'
import { isEmbedded } from './runtime.ts'
import type { Runtime } from './runtime.ts'

const FLIP_TIMEOUT_MS = 60_000

type Upgrading = Pick<Context, 'output' | 'signal'>

/**
 * Folds of another version than those that made the serving generation. Embedded, newer folds build their own generation first and then
 * serve it; on services the old release keeps serving until somebody rebuilds and flips.
 */
export const upgrade = async (runtime: Runtime, pipeline: Pipeline, context: Upgrading): Promise<void> => {
  const { output } = context
  const { domain, control } = pipeline
  const { generation: served } = await control.serving(domain.name)
  const serving = (await control.generations(domain.name)).find(({ generation }) => generation === served)
  if (serving === undefined || serving.foldVersion === domain.foldVersion) return
  if (serving.foldVersion > domain.foldVersion) {
    throw new Fault('folds-newer', `Generation ${serving.generation} of ${domain.name} was made by newer folds (version ${serving.foldVersion}, this program has ${domain.foldVersion}). Run the newer program, or flip back to one of version ${domain.foldVersion}: tributary flip ${domain.name} --to N.`)
  }
  if (!isEmbedded(runtime.config)) {
    return output.note(`${domain.name} is served from generation ${serving.generation}, which only the older release follows. Now run: tributary rebuild ${domain.name}`)
  }
  output.note(`${domain.name}: the folds changed (version ${serving.foldVersion} to ${domain.foldVersion}); a generation of their own is made before serving`)
  await serveOwn(runtime, pipeline, context)
}

/** One that was made for these folds before is used, and gone on with where it was left half-built. */
const serveOwn = async (runtime: Runtime, pipeline: Pipeline, context: Upgrading): Promise<void> => {
  const { domain, control, log } = pipeline
  const { clock } = runtime
  const listed = await control.generations(domain.name)
  const { generation: served } = await control.serving(domain.name)
  const made = listed.find((each) => each.state === 'following' && each.foldVersion === domain.foldVersion && each.generation > served)
  const to = made?.generation ?? (await rebuildHere(runtime, pipeline, { ...context, resume: halfBuilt(listed, domain.foldVersion)?.generation }))
  await pipeline.start('processor')
  const store = async (generation: number) => (await pipeline.generation(generation)).store
  await flip({ domain: domain.name, foldVersion: domain.foldVersion, control, log, clock, to, store, timeoutMs: FLIP_TIMEOUT_MS, signal: context.signal })
  await pipeline.refresh()
  context.output.note(`${domain.name}: generation ${to} serves now`)
}

const rebuildHere = async ({ adapters, clock }: Runtime, pipeline: Pipeline, { output, signal, resume }: Upgrading & { readonly resume: number | undefined }): Promise<number> => {
  const { domain, log, codec, control } = pipeline
  const { generation: served } = await control.serving(domain.name)
  const { generation, events } = await rebuild({
    domain, log, codec, clock, control, signal,
    holder: holderName(),
    served: evenIfLost(async () => (await pipeline.generation(served)).store, { log, group: groupOf(domain.name, served) }),
    workshop: adapters.workshop(domain),
    progress: createMeter(output, domain.name, clock.now),
    ...(resume === undefined ? {} : { resume }),
  })
  output.note(`${domain.name}: ${counted(events, 'event')} folded into generation ${generation}`)
  return generation
}
