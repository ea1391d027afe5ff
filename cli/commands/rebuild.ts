import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { createInterface } from 'node:readline/promises'
import { flip as flipTo, rebuild as rebuildNext } from '../../processors/engine/rebuild.ts'
import type { Rebuilt } from '../../processors/engine/rebuild.ts'
import { Fault } from '../../schemas/fault.ts'
import { configOf } from '../context.ts'
import type { Context } from '../context.ts'
import { callHolder } from '../folder.ts'
import { EXIT, saysTo } from '../output.ts'
import type { Exit } from '../output.ts'
import type { Pipeline } from '../pipeline.ts'
import { withRuntime } from '../reach.ts'
import { isEmbedded } from '../runtime.ts'
import type { Runtime } from '../runtime.ts'
import { askOver } from '../socket.ts'

export interface RebuildOptions {
  readonly domain: string
  readonly flip: boolean
  readonly yes?: true
  readonly json?: true
}

const FLIP_TIMEOUT_MS = 60_000

/** Builds in this process, beside a running server, whose commits it never blocks. */
export const rebuild = (context: Context, options: RebuildOptions): Promise<Exit> =>
  withRuntime(context, async (runtime) => {
    const pipeline = runtime.pipeline(options.domain)
    if (options.flip && options.yes !== true) await confirm(pipeline)
    const rebuilt = await build(context, runtime, pipeline)
    if (options.flip) await flip(context, runtime, { pipeline, to: rebuilt.generation })
    if (options.json === true) context.output.line(JSON.stringify({ ...rebuilt, parked: rebuilt.parked.length, flipped: options.flip }))
    else context.output.line(`generation ${rebuilt.generation} of ${options.domain}: ${rebuilt.events} events folded, ${rebuilt.parked.length} keys parked, ${options.flip ? 'serving' : 'following, not serving'}`)
    return rebuilt.parked.length > 0 ? EXIT.parked : EXIT.fine
  }, true)

const build = ({ output, signal }: Context, { adapters, clock }: Runtime, { domain, log, codec, control }: Pipeline): Promise<Rebuilt> =>
  rebuildNext({
    domain, log, codec, clock, control,
    holder: `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`,
    ...adapters.building(domain.table),
    signal,
    progress: (events, of) => output.progress(`${domain.name}: ${events} of ${of} events folded (${of === 0 ? 100 : Math.floor((events * 100) / of)} %)`),
  })

/** The flip waits for the new generation to follow: by the running server, or else here. */
const flip = async (context: Context, runtime: Runtime, { pipeline, to }: { pipeline: Pipeline; to: number }): Promise<void> => {
  const config = configOf(context)
  const server = isEmbedded(config) ? await callHolder(config.data) : undefined
  const beside = server !== undefined && runtime.held === undefined
  const refresh = async (): Promise<unknown> => {
    const socket = await callHolder(config.data)
    return socket === undefined ? undefined : askOver(socket)('refresh', {}, saysTo(context.output, context.signal, () => undefined))
  }
  server?.destroy()
  if (beside) await refresh()
  else if (runtime.held !== undefined) await pipeline.start('processor')
  const { store } = await pipeline.generation(to)
  await flipTo({ domain: pipeline.domain.name, control: pipeline.control, log: pipeline.log, clock: runtime.clock, to, store, timeoutMs: FLIP_TIMEOUT_MS })
  if (beside) await refresh()
}

const confirm = async ({ domain, serving }: Pipeline): Promise<void> => {
  if (!process.stdin.isTTY) throw new Fault('bad-usage', 'A rebuild flips what serves when it is done. Say --yes, or --no-flip to build only.')
  const asked = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await asked.question(`Build generation ${serving().generation + 1} of ${domain.name} beside generation ${serving().generation}, and serve it when it is done? [y/N] `)
  asked.close()
  if (!/^y(es)?$/i.test(answer.trim())) throw new Fault('bad-usage', 'Nothing was done.')
}
