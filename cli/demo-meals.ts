import { mealsTraffic } from '../producers/simulate/meals.ts'
import { systemClock } from '../processors/adapters/system-clock.ts'
import type { Context } from './context.ts'
import { sending, tokenOf, type DemoOptions, type DemoPlace } from './demo.ts'

const USERS = 5

/** People who log what they eat. */
export const mealsDemo = async ({ output, signal }: Context, { seconds, rate, seed }: DemoOptions, { ask, url, tally }: DemoPlace): Promise<void> => {
  const users = Array.from({ length: USERS }, (_, index) => `demo-${seed}-${index + 1}`)
  const tokens = new Map<string, string>()
  for (const user of users) tokens.set(user, await tokenOf(ask, user, 'meals'))
  const traffic = mealsTraffic({ seed, users, now: systemClock.now() })
  const send = sending({ url, tally })
  const lanes = new Map<string, Promise<unknown>>()
  const began = systemClock.now()
  for (let sent = 0; sent < seconds * rate && !signal.aborted; sent += 1) {
    await systemClock.sleep(began + (sent * 1000) / rate - systemClock.now(), signal)
    const { user, ...request } = traffic.next().value
    // One person does one thing after the other; people do not wait for each other.
    const one = () => send({ ...request, token: tokens.get(user) ?? '' }).catch(() => (tally.failed += 1))
    lanes.set(user, (lanes.get(user) ?? Promise.resolve()).then(one))
    output.progress(`${sent + 1} of ${seconds * rate} requests sent`)
  }
  await Promise.all(lanes.values())
}
