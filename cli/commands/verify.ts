import { verify as verifyStore } from '../../processors/engine/verify.ts'
import type { Difference, Verified } from '../../processors/engine/verify.ts'
import type { Log } from '../../processors/engine/log.ts'
import { itemsBelongTo } from '../domains.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'
import type { Pipeline } from '../pipeline.ts'
import { withRuntime } from '../reach.ts'
import type { Runtime } from '../runtime.ts'

export interface VerifyOptions {
  readonly domain?: string | undefined
  readonly key?: string
  readonly json?: true
}

/** Folds in this process, beside a running server, so that nobody waits for it. */
export const verify = (context: Context, { domain, key, json }: VerifyOptions): Promise<Exit> =>
  withRuntime(context, async (runtime) => {
    const pipelines = domain === undefined ? [...runtime.pipelines.values()] : [runtime.pipeline(domain)]
    let differs = false
    for (const pipeline of pipelines) {
      const verified = await verifyOne(context, runtime, { pipeline, key })
      differs ||= verified.differences.length > 0
      tell(context, { domain: pipeline.domain.name, verified, json: json === true })
    }
    return differs ? EXIT.differs : EXIT.fine
  }, true)

const verifyOne = async ({ output }: Context, { adapters, clock }: Runtime, { pipeline, key }: { pipeline: Pipeline; key: string | undefined }): Promise<Verified> => {
  const { domain, codec, log, serving } = pipeline
  const scratch = await adapters.scratch(domain.table)
  try {
    return await verifyStore({
      domain, codec, clock,
      log: key === undefined ? log : onlyKey(log, key),
      store: serving().store,
      scratch: scratch.store,
      progress: (events) => output.progress(`${domain.name}: ${events} events folded`),
      ...(key === undefined ? {} : { belongs: itemsBelongTo(domain.name, key) }),
    })
  } finally {
    await scratch.remove()
  }
}

/** The log as if it held one key only. */
const onlyKey = (log: Log, key: string): Pick<Log, 'read'> => ({
  async *read(partition, from, to = Infinity) {
    if (log.partitionOf(key) !== partition) return
    for await (const records of log.readKey(key, from)) {
      const within = records.filter(({ offset }) => offset < to)
      if (within.length > 0) yield within
    }
  },
})

const tell = ({ output }: Context, { domain, verified, json }: { domain: string; verified: Verified; json: boolean }): void => {
  const { events, items, differences } = verified
  if (json) return output.line(JSON.stringify({ domain, events, items, differences }))
  for (const difference of differences) output.line(describe(difference))
  output.note(`${domain}: ${events} events folded, ${items} items compared, ${differences.length} differ`)
}

const describe = ({ kind, PK, SK, stored, folded }: Difference): string =>
  [`${kind} ${PK} ${SK}`, ...(stored === undefined ? [] : [`  stored ${JSON.stringify(stored)}`]), ...(folded === undefined ? [] : [`  folded ${JSON.stringify(folded)}`])].join('\n')
