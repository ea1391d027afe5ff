import { verify as verifyStore } from '../../processors/engine/verify.ts'
import type { Difference, Verified } from '../../processors/engine/verify.ts'
import { onlyKeys, onlyPartitions } from '../../processors/engine/sample.ts'
import { Fault } from '../../schemas/fault.ts'
import { placesOf } from '../domains.ts'
import type { Context } from '../context.ts'
import { draw } from '../draw.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'
import { inWorkplaces } from '../workplace.ts'
import type { Workplace } from '../workplace.ts'

export interface VerifyOptions {
  readonly domain?: string | undefined
  readonly key?: string
  readonly sample?: number
  readonly json?: true
}

/** Folds in this process, beside a running server, so that nobody waits for it. */
export const verify = async (context: Context, { domain, key, sample, json }: VerifyOptions): Promise<Exit> => {
  if (key !== undefined && sample !== undefined) throw new Fault('bad-usage', '--key names one key and --sample draws some: give one of them.')
  let differs = false
  await inWorkplaces(context, domain, async (workplace) => {
    const keys = key !== undefined ? [key] : sample === undefined ? undefined : await draw(workplace.log, sample)
    const verified = await verifyOne(context, workplace, keys)
    const { items, differences } = verified
    if (key === undefined) await workplace.control.verified(workplace.domain.name, { at: workplace.clock.now(), items, differences: differences.length, keys: keys?.length ?? null })
    differs ||= differences.length > 0
    tell(context, { domain: workplace.domain.name, verified, keys, json: json === true })
  })
  return differs ? EXIT.differs : EXIT.fine
}

const verifyOne = async ({ output, signal }: Context, workplace: Workplace, keys: readonly string[] | undefined): Promise<Verified> => {
  const { domain, codec, clock, log, serving } = workplace
  const store = await workplace.store(serving)
  const places = placesOf(domain.name)
  const partitions = places.of && keys?.flatMap(places.of)
  const some = keys && new Set<string | undefined>(keys)
  const progress = (events: number): void => output.progress(`${domain.name}: ${events} events folded`)
  const ends = await store.checkpoints()
  const scratch = await workplace.scratch(keys === undefined ? { log, codec, ends, progress, signal } : undefined)
  try {
    return await verifyStore({
      domain, codec, clock, signal,
      log: keys === undefined ? log : { ...onlyKeys(log, keys), watermarks: log.watermarks },
      store: keys === undefined ? store : { load: store.load, checkpoints: store.checkpoints, scan: partitions === undefined ? store.scan : onlyPartitions(store, partitions) },
      scratch: scratch.store,
      progress,
      ...(some === undefined ? {} : { belongs: (item) => some.has(places.keyIn(item.PK, item)) }),
    })
  } finally {
    await scratch.remove()
  }
}

const tell = ({ output }: Context, { domain, verified, keys, json }: { domain: string; verified: Verified; keys: readonly string[] | undefined; json: boolean }): void => {
  const { events, items, differences, moving } = verified
  if (json) return output.line(JSON.stringify({ domain, events, items, keys: keys?.length ?? null, differences, moving }))
  for (const difference of differences) output.line(describe(difference))
  output.note(`${domain}: ${events} events folded${keys === undefined ? '' : ` of ${keys.length} ${keys.length === 1 ? 'key' : 'keys'}`}, ${items} items compared, ${differences.length} differ${moving === 0 ? '' : `; ${moving} changed every time they were looked at`}`)
}

const describe = ({ kind, PK, SK, stored, folded }: Difference): string =>
  [`${kind} ${PK} ${SK}`, ...(stored === undefined ? [] : [`  stored ${JSON.stringify(stored)}`]), ...(folded === undefined ? [] : [`  folded ${JSON.stringify(folded)}`])].join('\n')
