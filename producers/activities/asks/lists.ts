import type { AskAnswer, AskCall, AskHandler, AskResult } from '../../../projections/ask.ts'
import type { Listing } from '../../../projections/activities/items.ts'
import type { ActivityFetchedPersonal } from '../../../schemas/generated/activities.ts'
import { Fault } from '../../../schemas/fault.ts'
import { PAGE_SIZE } from '../strava/client.ts'
import { openLink, pausedUntil, refreshedBy, tokenLost, type AskParts, type Link, type LinkBody } from './link.ts'

export type ListBody = LinkBody & { readonly run: number; readonly page: number }

/** A page of the list of activities. */
export interface ListedPage {
  readonly link: Link
  readonly body: ListBody
  readonly activities: readonly ActivityFetchedPersonal[]
  /** The time of the request in epoch milliseconds. */
  readonly requestedAt: number
  /** The start of the oldest activity of the previous page, in epoch seconds. Null on the first page. */
  readonly before: number | null
  /** The start of the oldest activity of this page. Null if the page is empty. */
  readonly oldest: number | null
  readonly done: boolean
}

interface ListParts extends Pick<AskParts, 'calls' | 'client'> {
  readonly share: Readonly<Record<string, number>>
  /** The progress of the list. */
  readonly listing: (link: Link) => Listing
  readonly answerOf: (page: ListedPage, ask: AskCall) => Promise<readonly AskAnswer[]>
}

const DAY_S = 86_400

/** Creates the handler of the asks that fetch a list, one page per call. */
export const listHandler = (parts: AskParts, list: Omit<ListParts, 'calls' | 'client'>): AskHandler => ({
  heldUntil: () => parts.budget.heldUntil(list.share),
  call: (ask) => listPage({ ...parts, ...list }, ask),
})

/** Fetches the next page of a list. Answers no event if the link has ended. */
const listPage = async ({ calls, client, share, listing, answerOf }: ListParts, ask: AskCall): Promise<AskResult> => {
  const body = ask.body as ListBody
  const link = await openLink(ask, body)
  if (link === undefined) return { events: [] }
  const later = pausedUntil(link, ask.now)
  if (later !== undefined) return { later }
  const { before } = listing(link)
  const { signal, now: requestedAt } = ask
  // The first page begins a day ahead, because the clock of a device can be ahead.
  const beforeS = before === null ? Math.floor(requestedAt / 1000) + DAY_S : before + 1
  const called = await calls.make({
    subject: link.subject,
    share,
    signal,
    call: (access) => client.activities(access, beforeS, { signal }),
  })
  if (called.kind === 'later') return { later: called.at }
  if (called.kind === 'none') return { events: [] }
  if (called.kind === 'lost') return { events: [tokenLost(link, called.version)] }
  if (called.kind === 'failed' && called.failure.kind !== 'scope-missing')
    throw new Fault(
      'strava-unavailable',
      `Strava did not return a list of activities (status ${called.failure.status}${called.failure.detail && `, ${called.failure.detail}`}).`,
      { retriable: true },
    )
  // Without the scope, the list of the athlete is empty for this program.
  const activities = called.kind === 'result' ? called.result : []
  const page = { link, body, activities, requestedAt, before, ...positionOf(activities, before) }
  return { events: [...refreshedBy(link, called.tokens), ...(await answerOf(page, ask))] }
}

/** The position of a page, and whether it is the last one: it is short, or Strava ignores `before`. */
const positionOf = (
  activities: readonly ActivityFetchedPersonal[],
  before: number | null,
): Pick<ListedPage, 'oldest' | 'done'> => {
  if (activities.length === 0) return { oldest: null, done: true }
  const oldest = Math.min(...activities.map(latestStart))
  if (activities.length < PAGE_SIZE || (before !== null && oldest > before)) return { oldest, done: true }
  // A full page that begins and ends in the same second: the next page is before this second.
  return { oldest: oldest === before ? before - 1 : oldest, done: false }
}

/** The start in epoch seconds. If Strava hides the start, the end of the day on which the activity began: Strava may sort it by its real start. */
const latestStart = ({ startDate, startDateLocal, utcOffsetS, hidden }: ActivityFetchedPersonal): number =>
  Math.floor(hidden ? startDateLocal / 1000 - 1 + DAY_S - utcOffsetS : startDate / 1000)
