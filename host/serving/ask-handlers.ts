import type { Logger } from 'pino'
import { listHandler } from '../../processors/engine/asks/list.ts'
import { forgetHandler } from '../../processors/engine/people/forget-ask.ts'
import type { Pipeline } from '../../processors/engine/run/pipeline.ts'
import type { AskHandlers } from '../../projections/ask.ts'
import type { Outside } from '../../domains/record.ts'
import { forgetSubject } from '../ipc/operations/forget.ts'
import { outsideOf } from '../wiring/outside.ts'
import type { Runtime } from '../wiring/runtime.ts'

/** Starts the fetcher of each domain that declares asks. */
export const startFetchers = (runtime: Runtime, logger: Logger): void => {
  const outside = outsideOf(runtime, logger)
  for (const pipeline of runtime.pipelines.values())
    if (pipeline.domain.asks !== undefined) pipeline.startFetcher(handlersOf(runtime, pipeline, outside))
}

/** The handlers of a domain: those of its edge, and those of the kinds that every domain has. */
const handlersOf = (runtime: Runtime, { domain: { name } }: Pipeline, outside: Outside): AskHandlers => {
  const { domains, edges } = runtime.config
  return {
    ...(domains.isFurther(name) ? {} : edges[name]?.asks?.(outside)),
    list: listHandler,
    forget: forgetHandler((subject) => forgetSubject(runtime, subject)),
  }
}
