import { flip, rebuild } from '../processors/engine/rebuild.ts'
import { Fault } from '../schemas/fault.ts'
import type { Context } from './context.ts'
import type { Pipeline } from '../processors/engine/pipeline.ts'
import { isEmbedded } from './runtime.ts'
import type { Runtime } from './runtime.ts'

const FLIP_TIMEOUT_MS = 60_000

/**
 * Folds of another version than those that made the serving generation. Embedded, newer folds build their own generation first and then
 * serve it; on services the old release keeps serving until somebody rebuilds and flips.
 */
export const upgrade = async (runtime: Runtime, pipeline: Pipeline, { output }: Pick<Context, 'output'>): Promise<void> => {
  const { domain, control } = pipeline
  const serving = (await control.generations(domain.name)).find(({ generation }) => generation === pipeline.serving().generation)
  if (serving === undefined || serving.foldVersion === domain.foldVersion) return
  if (serving.foldVersion > domain.foldVersion) {
    throw new Fault('folds-newer', `Generation ${serving.generation} of ${domain.name} was made by newer folds (version ${serving.foldVersion}, this program has ${domain.foldVersion}). Run the newer program.`)
  }
  if (!isEmbedded(runtime.config)) {
    return output.note(`${domain.name} is served from generation ${serving.generation}, which only the older release follows. Now run: tributary rebuild ${domain.name}`)
  }
  output.note(`${domain.name}: the folds changed (version ${serving.foldVersion} to ${domain.foldVersion}); building generation ${serving.generation + 1} before serving`)
  await rebuildHere(runtime, pipeline, { output })
}

const rebuildHere = async ({ adapters, clock }: Runtime, pipeline: Pipeline, { output }: Pick<Context, 'output'>): Promise<void> => {
  const { domain, log, codec, control } = pipeline
  const { generation, events } = await rebuild({
    domain, log, codec, clock, control,
    holder: `start:${process.pid}`,
    served: pipeline.serving().store,
    ...adapters.building(domain),
    progress: (done, of) => output.progress(`${domain.name}: ${done} of ${of} events folded`),
  })
  await pipeline.start('processor')
  const { store } = await pipeline.generation(generation)
  const served = pipeline.serving()
  await flip({
    domain: domain.name, foldVersion: domain.foldVersion, control, log, clock, to: generation, store,
    serving: served.generation, served: served.store, timeoutMs: FLIP_TIMEOUT_MS,
  })
  await pipeline.refresh()
  output.note(`${domain.name}: ${events} events folded into generation ${generation}, which serves now`)
}
