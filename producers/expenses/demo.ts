import { holiday } from './demo-traffic.ts'
import { createSender, type Demo } from '../demo/demo.ts'

const FRIENDS = 5

/** Simulates friends on a holiday who pay for each other. The requests run one after the other, because later requests use earlier answers. */
export const expensesDemo: Demo = async (
  { seconds, rate, seed },
  { url, tally, calledAs, clock, signal, progress, createToken },
) => {
  const users = Array.from({ length: FRIENDS }, (_, index) => `demo-${seed}-${index + 1}`)
  const tokens = new Map<string, string>()
  for (const user of users) tokens.set(user, await createToken(user))
  const send = createSender({ url, tally })
  const began = clock.now()
  const days = holiday({ seed, users, now: began })
  let answered: Readonly<Record<string, unknown>> = {}
  for (let sent = 0; sent < seconds * rate && !signal.aborted; sent += 1) {
    await clock.sleep(began + (sent * 1000) / rate - clock.now(), signal)
    const { user, ...request } = days.next(answered).value
    const { body } = await send({ ...request, token: tokens.get(user) ?? '' })
    answered = body
    if (sent === 0) tally.hint = `see a result: ${calledAs} explain expenses 'GROUP#${String(body['id'])}' BALANCE#EUR`
    progress(`${sent + 1} of ${seconds * rate} requests sent`)
  }
}
