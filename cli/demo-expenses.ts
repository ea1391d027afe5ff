import { holiday } from '../producers/simulate/expenses.ts'
import { systemClock } from '../processors/adapters/system-clock.ts'
import type { Context } from './context.ts'
import { sending, tokenOf, type DemoOptions, type DemoPlace } from './demo.ts'

const FRIENDS = 5

/** Friends on a holiday who pay for each other: one request after the other, since each rests on those before it. */
export const expensesDemo = async ({ output, signal }: Context, { seconds, rate, seed }: DemoOptions, { ask, url, tally }: DemoPlace): Promise<void> => {
  const users = Array.from({ length: FRIENDS }, (_, index) => `demo-${seed}-${index + 1}`)
  const tokens = new Map<string, string>()
  for (const user of users) tokens.set(user, await tokenOf(ask, user, 'expenses'))
  const send = sending({ url, tally })
  const began = systemClock.now()
  const days = holiday({ seed, users, now: began })
  let answered: Readonly<Record<string, unknown>> = {}
  for (let sent = 0; sent < seconds * rate && !signal.aborted; sent += 1) {
    await systemClock.sleep(began + (sent * 1000) / rate - systemClock.now(), signal)
    const { user, ...request } = days.next(answered).value
    const { body } = await send({ ...request, token: tokens.get(user) ?? '' })
    answered = body
    if (sent === 0) tally.look = `look at it: npx tributary explain expenses 'GROUP#${String(body['id'])}' BALANCE#EUR`
    output.progress(`${sent + 1} of ${seconds * rate} requests sent`)
  }
}
