import type { AskCall, AskHandler, AskResult } from '../../../projections/ask.ts'
import { Fault } from '../../../schemas/fault.ts'
import { answer, openLink, refreshedBy, type AskParts, type LinkBody } from './link.ts'

type CheckBody = LinkBody & { readonly asked: number }

/** Checks a reported revocation: if the token still works, the report was wrong. */
export const checkHandler = (parts: AskParts): AskHandler => ({
  heldUntil: () => parts.budget.heldUntil(),
  call: (ask) => check(parts, ask),
})

const check = async ({ calls, client }: AskParts, ask: AskCall): Promise<AskResult> => {
  const body = ask.body as CheckBody
  const { epoch, asked } = body
  const link = await openLink(ask, body)
  if (link === undefined) return { events: [] }
  const { signal } = ask
  const called = await calls.make({
    subject: link.subject,
    signal,
    call: (access) => client.athlete(access, { signal }),
  })
  const answered = (verdict: 'gone' | 'valid') => answer('DeauthorisationChecked', { epoch, asked, verdict })
  switch (called.kind) {
    case 'later':
      return { later: called.at }
    case 'lost':
    case 'none':
      return { events: [answered('gone')] }
    case 'result':
      return { events: [...refreshedBy(link, called.tokens), answered('valid')] }
    case 'failed':
      // Strava accepts a token that lacks a scope.
      if (called.failure.kind === 'scope-missing')
        return { events: [...refreshedBy(link, called.tokens), answered('valid')] }
      throw new Fault(
        'strava-unavailable',
        `Strava did not answer whether it accepts the token of a connection (status ${called.failure.status}).`,
        { retriable: true },
      )
  }
}
