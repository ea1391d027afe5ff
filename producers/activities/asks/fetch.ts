import type { AskCall, AskHandler, AskResult } from '../../../projections/ask.ts'
import { syncs } from '../../../projections/activities/keys.ts'
import { answer, fetched, openLink, pausedUntil, refreshedBy, tokenLost, type AskParts, type LinkBody } from './link.ts'
import type { StravaFailure } from '../strava/failure.ts'

type FetchBody = LinkBody & { readonly ref: string; readonly asked: number; readonly attempt: number }

/** The status of an ask whose link has ended. */
const ENDED = 410
const LOST = 401

/** Fetches one activity. */
export const fetchHandler = (parts: AskParts): AskHandler => ({
  heldUntil: () => parts.budget.heldUntil(),
  call: (ask) => fetchActivity(parts, ask),
})

const fetchActivity = async ({ calls, client }: AskParts, ask: AskCall): Promise<AskResult> => {
  const body = ask.body as FetchBody
  const { ref, epoch, asked, attempt } = body
  const failed = (status: number, scope: string | null = null) =>
    answer('ActivityFetchFailed', { ref, epoch, asked, status, attempt, scope })
  const link = await openLink(ask, body)
  const activityId = link && (await syncs.get(ask.reader, link.user, ref))?.activityId
  if (link === undefined || activityId === undefined || activityId === null) return { events: [failed(ENDED)] }
  const later = pausedUntil(link, ask.now)
  if (later !== undefined) return { later }
  const { signal, now: requestedAt } = ask
  const called = await calls.make({
    subject: link.subject,
    signal,
    call: (access) => client.activity(access, activityId, { signal }),
  })
  switch (called.kind) {
    case 'later':
      return { later: called.at }
    case 'none':
      return { events: [failed(ENDED)] }
    case 'lost':
      return { events: [tokenLost(link, called.version), failed(LOST)] }
    case 'failed':
      return { events: [...refreshedBy(link, called.tokens), failed(statusOf(called.failure), called.failure.scope)] }
    case 'result': {
      const { result, tokens } = called
      const event =
        result.activityId === activityId
          ? fetched(link, { ref, asked, requestedAt, via: 'webhook' }, result)
          : failed(0)
      return { events: [...refreshedBy(link, tokens), event] }
    }
  }
}

/** The status in the event. An answer that cannot be read counts as no answer. A missing scope is not 401, which means a lost token. */
const statusOf = ({ kind, status }: StravaFailure): number => {
  if (kind === 'scope-missing') return 403
  return kind === 'unavailable' && status < 500 ? 0 : status
}
