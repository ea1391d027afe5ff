import type { Logger } from 'pino'
import { createCallBudget } from '../../processors/engine/asks/budget.ts'
import { listHandler } from '../../processors/engine/asks/list.ts'
import { forgetHandler } from '../../processors/engine/people/forget-ask.ts'
import { forget } from '../../processors/engine/people/forgetting.ts'
import type { Pipeline } from '../../processors/engine/run/pipeline.ts'
import type { AskHandlers } from '../../projections/ask.ts'
import type { Outside } from '../../domains/record.ts'
import { forgetPartsOf } from '../ipc/operations/forget.ts'
import type { Runtime } from '../wiring/runtime.ts'

/** Starts the fetcher of each domain that declares asks. */
export const startFetchers = (runtime: Runtime, logger: Logger): void => {
  const outside = outsideOf(runtime, (error) => logger.warn({ err: error }, 'an outside service did not answer'))
  for (const pipeline of runtime.pipelines.values())
    if (pipeline.domain.asks !== undefined) pipeline.startFetcher(handlersOf(runtime, pipeline, outside))
}

/** The handlers of a domain: those of its edge, and those of the kinds that every domain has. */
const handlersOf = (runtime: Runtime, { domain: { name } }: Pipeline, outside: Outside): AskHandlers => {
  const { domains, edges } = runtime.config
  return {
    ...(domains.isFurther(name) ? {} : edges[name]?.asks?.(outside)),
    list: listHandler,
    forget: forgetHandler((subject) => forget(forgetPartsOf(runtime), subject)),
  }
}

const outsideOf = ({ keys, ledger, clock, processName }: Runtime, failed: Outside['failed']): Outside => ({
  failed,
  secrets: keys.store.secrets,
  budget: (name, windows) => createCallBudget({ store: ledger, clock, processName, name, windows }),
  clock,
})
