import type { Subscription } from '../../engine/ports/log.ts'
import { asFault } from './faults.ts'
import { backoff } from './options.ts'
import { openSession, type Session, type SessionPlan } from './session.ts'

/** Runs a consumer until `stop`. If a consumer ends with an error, reports the error to the subscriber and opens the next consumer. */
export function follow(plan: Omit<SessionPlan, 'onJoin'>): Subscription {
  const {
    settings: { clock, timing },
    subscriber,
    topic,
    group,
  } = plan
  const stopping = new AbortController()
  let session: Session | undefined
  const loop = async (): Promise<void> => {
    let attempt = 0
    while (!stopping.signal.aborted) {
      session = openSession({
        ...plan,
        onJoin: () => {
          attempt = 0
        },
      })
      const error = await session.ended
      if (stopping.signal.aborted) return
      subscriber.failed(asFault(`Group ${group} lost its connection to ${topic.name}`, error))
      await clock.sleep(backoff(timing, attempt++), stopping.signal)
    }
  }
  const looping = loop()
  const end = async (): Promise<void> => {
    stopping.abort()
    await session?.stop()
    await looping
  }
  let stopped: Promise<void> | undefined
  return { stop: () => (stopped ??= end()) }
}
