import { mealsTraffic } from './demo-traffic.ts'
import { createSender, type Demo } from '../demo/demo.ts'

const USERS = 5

/** Simulates people who log their meals. */
export const mealsDemo: Demo = async (
  { seconds, rate, seed },
  { url, tally, clock, signal, progress, createToken },
) => {
  const users = Array.from({ length: USERS }, (_, index) => `demo-${seed}-${index + 1}`)
  const tokens = new Map<string, string>()
  for (const user of users) tokens.set(user, await createToken(user))
  const traffic = mealsTraffic({ seed, users, now: clock.now() })
  const send = createSender({ url, tally })
  const queues = new Map<string, Promise<unknown>>()
  const began = clock.now()
  for (let sent = 0; sent < seconds * rate && !signal.aborted; sent += 1) {
    await clock.sleep(began + (sent * 1000) / rate - clock.now(), signal)
    const { user, ...request } = traffic.next().value
    // The requests of one person run one after the other. People do not wait for each other.
    const sendNext = () => send({ ...request, token: tokens.get(user) ?? '' }).catch(() => (tally.failed += 1))
    queues.set(user, (queues.get(user) ?? Promise.resolve()).then(sendNext))
    progress(`${sent + 1} of ${seconds * rate} requests sent`)
  }
  await Promise.all(queues.values())
}
