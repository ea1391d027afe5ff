import type { Pipeline } from '../../processors/engine/run/pipeline.ts'
import { logTrimmed, trimmedIn } from '../../processors/engine/generations/trimmed.ts'
import { counted } from '../../schemas/counted.ts'
import type { Runtime } from '../wiring/runtime.ts'
import { failureText, type Readiness } from './admin.ts'
import { isServingFollowed, lagsOf, unfollowed } from './domain-status.ts'

/** A processor that is more than this number of events behind the end of the log is not ready, because its items are too old. */
const READY_LAG_EVENTS = 10_000
const READY_CHECK_MS = 2_000

/**
 * Returns whether this process is ready, and the reason. It is ready if every domain is ready. The first rule that applies to a domain decides:
 * - The log or the store fails, or does not answer in time: not ready.
 * - The log lost events, or no processor follows the serving generation: a process with the processor role is not ready. Other processes are ready.
 * - Only a newer release can read the items: ready.
 * - The domain only folds the log of another domain: ready, because the other domain also works without it.
 * - Folding has stopped in this processor: not ready.
 * - The generation has not folded all events that the log contained when this process started: not ready.
 * - The lag of this processor is large: not ready.
 */
export const readinessOf = async (
  { pipelines, clock, config: { domains } }: Runtime,
  { processor, failed }: { processor: boolean; failed: (error: unknown) => void },
): Promise<Readiness> => {
  const tooLong = new AbortController()
  const check = async (pipeline: Pipeline): Promise<Readiness> => {
    const { name } = pipeline.domain
    const { generation } = pipeline.answering()
    const lags = await lagsOf(pipeline)
    const [lagEvents, trimmed] = [lags.reduce((sum, { lag }) => sum + lag, 0), trimmedIn(lags)]
    if (trimmed.length > 0)
      return { ready: !processor, text: `log-trimmed: ${logTrimmed(pipeline.domain.topic, trimmed).message}` }
    if (!(await isServingFollowed(pipeline))) return { ready: !processor, text: unfollowed(name, generation) }
    if (pipeline.unreadable() !== undefined)
      return {
        ready: true,
        text: `this release does not serve ${name}: the items of generation ${generation} need a newer release`,
      }
    if (domains.isFurther(name)) return READY
    const stalled = processor ? pipeline.stalled() : undefined
    if (stalled !== undefined) return { ready: false, text: `${name} does not fold: ${failureText(stalled)}` }
    const behind = behindIn(pipeline, lags)
    if (behind > 0)
      return {
        ready: false,
        text: `${name} is catching up: ${counted(behind, 'event')} that the log contained at the start must still be folded`,
      }
    return processor && lagEvents > READY_LAG_EVENTS
      ? { ready: false, text: `${name} is catching up: ${counted(lagEvents, 'event')} behind` }
      : READY
  }
  const late = clock
    .sleep(READY_CHECK_MS, tooLong.signal)
    .then(() => [{ ready: false, text: 'the log or the store does not answer' }])
  const checks = Promise.all([...pipelines.values()].map(check)).catch((error: unknown) => {
    failed(error)
    return [{ ready: false, text: failureText(error) }]
  })
  const found = await Promise.race([checks, late])
  tooLong.abort()
  return found.find(({ ready }) => !ready) ?? found.find((each) => each !== READY) ?? READY
}

/** The number of events that the log contained when the process started and that the serving generation has not folded yet. */
export const behindIn = (pipeline: Pipeline, lags: Awaited<ReturnType<typeof lagsOf>>): number =>
  pipeline.behindStart(new Map(lags.map(({ partition, next }) => [partition, next])))

const READY: Readiness = { ready: true, text: 'ready' }
