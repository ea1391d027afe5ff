import type { Subscription } from '../../engine/log.ts'
import { asFault } from './faults.ts'
import { backoff } from './options.ts'
import { openSession, type Session, type SessionPlan } from './session.ts'

/** Keeps a consumer going: whatever ends one, the next is opened, and the subscriber hears why. */
export function follow(plan: Omit<SessionPlan, 'joined'>): Subscription {
  const { settings: { clock, timing }, subscriber, topic, group } = plan
  const stopping = new AbortController()
  let session: Session | undefined
  const loop = async (): Promise<void> => {
    let attempt = 0
    while (!stopping.signal.aborted) {
      session = openSession({ ...plan, joined: () => { attempt = 0 } })
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
