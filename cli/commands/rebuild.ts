import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { createInterface } from 'node:readline/promises'
import { flip, rebuild as rebuildNext } from '../../processors/engine/rebuild.ts'
import type { Rebuilt } from '../../processors/engine/rebuild.ts'
import { Fault } from '../../schemas/fault.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'
import { inWorkplaces } from '../workplace.ts'
import type { Workplace } from '../workplace.ts'

export interface RebuildOptions {
  readonly domain: string
  readonly flip: boolean
  readonly yes?: true
  readonly json?: true
}

const FLIP_TIMEOUT_MS = 60_000

/** Builds in this process, beside a running server, whose commits it never blocks. */
export const rebuild = async (context: Context, options: RebuildOptions): Promise<Exit> => {
  let parked = 0
  await inWorkplaces(context, options.domain, async (workplace) => {
    if (options.flip && options.yes !== true) await confirm(workplace)
    const rebuilt = await build(context, workplace)
    if (options.flip) await serve(workplace, rebuilt.generation)
    parked = rebuilt.parked.length
    tell(context, options, rebuilt)
  })
  return parked > 0 ? EXIT.parked : EXIT.fine
}

const build = async ({ output, signal }: Context, workplace: Workplace): Promise<Rebuilt> => {
  const { domain, log, codec, clock, control } = workplace
  return rebuildNext({
    domain, log, codec, clock, control, signal,
    holder: `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`,
    served: await workplace.store(workplace.serving),
    ...(await workplace.building()),
    progress: (events, of) => output.progress(`${domain.name}: ${events} of ${of} events folded (${of === 0 ? 100 : Math.floor((events * 100) / of)} %)`),
  })
}

const serve = async (workplace: Workplace, to: number): Promise<void> => {
  const { domain, log, clock, control, serving } = workplace
  await workplace.follow()
  const [store, served] = [await workplace.store(to), await workplace.store(serving)]
  await flip({ domain: domain.name, foldVersion: domain.foldVersion, control, log, clock, to, store, serving, served, timeoutMs: FLIP_TIMEOUT_MS })
}

const tell = ({ output }: Context, { domain, flip: flipped, json }: RebuildOptions, { generation, events, parked }: Rebuilt): void => {
  if (json === true) output.line(JSON.stringify({ domain, generation, events, parked: parked.length, flipped }))
  else output.line(`generation ${generation} of ${domain}: ${events} events folded, ${parked.length} keys parked, ${flipped ? 'serving' : 'following, not serving'}`)
}

const confirm = async ({ domain, serving }: Workplace): Promise<void> => {
  // Nobody to ask: what was said is meant, and the generation before stays to flip back to.
  if (!process.stdin.isTTY) return
  const asked = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await asked.question(`Build the next generation of ${domain.name} beside generation ${serving}, and serve it when it is done? [y/N] `)
  asked.close()
  if (!/^y(es)?$/i.test(answer.trim())) throw new Fault('bad-usage', 'Nothing was done.')
}
