import type { AskCall, AskHandler, AskResult } from '../../../projections/ask.ts'
import { connections, stravaSubject } from '../../../projections/activities/keys.ts'
import { Fault } from '../../../schemas/fault.ts'
import { TOKENS, tokensIn } from '../tokens.ts'
import { answer, type AskParts, type LinkBody } from './link.ts'

/** Strava has revoked the token, or does not accept it any more. */
const DONE = [200, 400, 401]
const PAUSE_MS = 15 * 60_000

/** Revokes the tokens of a link. */
export const revokeHandler = (parts: AskParts): AskHandler => ({ call: (ask) => revoke(parts, ask) })

const revoke = async ({ client, budget, secrets }: AskParts, ask: AskCall): Promise<AskResult> => {
  const body = ask.body as LinkBody
  const done = (result: string) => ({ events: [answer('StepDone', { step: 'revoke', epoch: body.epoch, result })] })
  // The erasure closes the link before it revokes the tokens. After a new link exists, a revocation would end the tokens of the new link.
  const isLatest = (await connections.get(ask.reader, ask.key))?.epoch === body.epoch
  const secret = isLatest ? await secrets.read(stravaSubject(ask.key, body.epoch), TOKENS) : undefined
  if (secret === undefined) return done('none')
  const { signal } = ask
  const called = await client.revoke(tokensIn(secret).refresh, { signal })
  if (called.use.length > 0) await budget.report(called.use)
  const status = 'failure' in called ? called.failure.status : 200
  if (DONE.includes(status)) return done(String(status))
  if (status === 429) return { later: (await budget.heldUntil()) ?? ask.now + PAUSE_MS }
  throw new Fault('strava-unavailable', `Strava did not revoke the token of a connection (status ${status}).`, {
    retriable: true,
  })
}
