import { mealsTraffic } from '../producers/simulate/meals.ts'
import type { SimulatedRequest } from '../producers/simulate/meals.ts'
import { systemClock } from '../processors/adapters/system-clock.ts'
import type { Context } from './context.ts'
import { tokenOf, type DemoPlace, type Tally } from './demo.ts'
import type { DemoOptions } from './demo.ts'

const USERS = 5

/** People who log what they eat. */
export const mealsDemo = async ({ output, signal }: Context, { seconds, rate, seed }: DemoOptions, { ask, url, tally }: DemoPlace): Promise<void> => {
  const users = Array.from({ length: USERS }, (_, index) => `demo-${seed}-${index + 1}`)
  const tokens = new Map<string, string>()
  for (const user of users) tokens.set(user, await tokenOf(ask, user, 'meals'))
  const traffic = mealsTraffic({ seed, users, now: systemClock.now() })
  const lanes = new Map<string, Promise<void>>()
  const began = systemClock.now()
  for (let sent = 0; sent < seconds * rate && !signal.aborted; sent += 1) {
    await systemClock.sleep(began + (sent * 1000) / rate - systemClock.now(), signal)
    const request = traffic.next().value
    // One person does one thing after the other; people do not wait for each other.
    lanes.set(request.user, (lanes.get(request.user) ?? Promise.resolve()).then(() => send(request, { url, tokens }, tally)))
    output.progress(`${sent + 1} of ${seconds * rate} requests sent`)
  }
  await Promise.all(lanes.values())
}

const send = async ({ user, method, path, headers, body }: SimulatedRequest, { url, tokens }: { url: string; tokens: ReadonlyMap<string, string> }, tally: Tally): Promise<void> => {
  const began = performance.now()
  try {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { ...headers, authorization: `Bearer ${tokens.get(user) ?? ''}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    await answer.arrayBuffer()
    tally.statuses.set(answer.status, (tally.statuses.get(answer.status) ?? 0) + 1)
    tally.millis.push(performance.now() - began)
    if (answer.status >= 500 || answer.status === 401) tally.failed += 1
  } catch {
    tally.failed += 1
  }
}
