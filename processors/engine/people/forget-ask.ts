import type { AskHandler } from '../../../projections/ask.ts'
import { Fault } from '../../../schemas/fault.ts'
import { forgetBodyOf } from '../outgoing/ask-bodies.ts'
import type { Forgot } from './forgetting.ts'

/** Returns the handler of asks of kind `forget`. If data of the person is left, the fetcher calls the ask again later. */
export const forgetHandler = (forget: (subject: string) => Promise<Pick<Forgot, 'left'>>): AskHandler => ({
  call: async ({ body, key }) => {
    const { subject, answer, data } = forgetBodyOf(body, key)
    const { left } = await forget(subject)
    if (left.length > 0)
      throw new Fault('forget-incomplete', `${subject} is not completely forgotten. ${left.join(' ')}`, {
        retriable: true,
      })
    return { events: [{ type: answer, data }] }
  },
})
