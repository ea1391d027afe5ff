import { verify as verifyStore } from '../../processors/engine/verify.ts'
import type { Difference, Verified } from '../../processors/engine/verify.ts'
import type { Log } from '../../processors/engine/log.ts'
import { itemsBelongTo } from '../domains.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'
import { inWorkplaces } from '../workplace.ts'
import type { Workplace } from '../workplace.ts'

export interface VerifyOptions {
  readonly domain?: string | undefined
  readonly key?: string
  readonly json?: true
}

/** Folds in this process, beside a running server, so that nobody waits for it. */
export const verify = async (context: Context, { domain, key, json }: VerifyOptions): Promise<Exit> => {
  let differs = false
  await inWorkplaces(context, domain, async (workplace) => {
    const verified = await verifyOne(context, workplace, key)
    differs ||= verified.differences.length > 0
    tell(context, { domain: workplace.domain.name, verified, json: json === true })
  })
  return differs ? EXIT.differs : EXIT.fine
}

const verifyOne = async ({ output, signal }: Context, workplace: Workplace, key: string | undefined): Promise<Verified> => {
  const { domain, codec, clock, log, serving } = workplace
  const scratch = await workplace.scratch()
  try {
    return await verifyStore({
      domain, codec, clock, signal,
      log: key === undefined ? log : onlyKey(log, key),
      store: await workplace.store(serving),
      scratch: scratch.store,
      progress: (events) => output.progress(`${domain.name}: ${events} events folded`),
      ...(key === undefined ? {} : { belongs: itemsBelongTo(domain.name, key) }),
    })
  } finally {
    await scratch.remove()
  }
}

/** The log as if it held one key only. */
const onlyKey = (log: Workplace['log'], key: string): Pick<Log, 'read'> => ({
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
