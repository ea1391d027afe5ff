import type { AskAnswer, AskResult, AskCall } from '../../projections/ask.ts'
import { stravaSubject } from '../../projections/activities/keys.ts'
import type {
  ActivityFetched,
  ActivityFetchedPersonal,
  ActivityFetchFailed,
  BackfillPageFetched,
  DeauthorisationChecked,
  ResyncPageFetched,
  StepDone,
} from '../../schemas/generated/activities.ts'
import type { Random } from '../../simulation/random.ts'
import type { Answers } from '../../simulation/workload.ts'

/** The pseudonyms of the activities of each person. */
export const ACTIVITIES = ['r1', 'r2', 'r3', 'r4']

const DAY_MS = 86_400_000

/** An activity as Strava describes it at one time. Each request can find other values. */
export const drawActivity = (
  random: Random,
  { ref, name, now }: { readonly ref: string; readonly name: string; readonly now: number },
): ActivityFetchedPersonal => {
  const startDate = now - random.between(0, 60) * DAY_MS
  return {
    activityId: `9000${ACTIVITIES.indexOf(ref)}`,
    name,
    sportType: random.pick(['Ride', 'Ride', 'GravelRide', 'Run', 'Walk']),
    startDate,
    startDateLocal: startDate,
    utcOffsetS: 0,
    hidden: random.chance(0.2),
    distanceDm: random.pick([0, 1, 83_334, 300_000, 1_000_000]),
    elevationDm: random.between(0, 5_000),
    movingS: 3_600,
    elapsedS: 3_700,
    visibility: 'everyone',
  }
}

/** A call and the random numbers of its answer. */
interface Call extends AskCall {
  readonly random: Random
}

type Of<E extends { readonly data: unknown }> = E['data']

const fetched = ({ random, key, now }: Call, { ref, epoch, asked, via }: Omit<Of<ActivityFetched>, 'requestedAt'>) => ({
  type: 'ActivityFetched',
  data: { ref, epoch, asked, requestedAt: now, via } satisfies Of<ActivityFetched>,
  personal: drawActivity(random, { ref, name: 'found', now }),
  subjectId: stravaSubject(key, epoch),
})

const fetchAnswer = (call: Call): readonly AskAnswer[] => {
  const { random, body } = call
  const { ref, epoch, asked, attempt } = body as Pick<Of<ActivityFetchFailed>, 'ref' | 'epoch' | 'asked' | 'attempt'>
  if (random.chance(0.7)) return [fetched(call, { ref, epoch, asked, via: 'webhook' })]
  const status = random.pick([0, 403, 404, 404, 410, 503])
  const data: Of<ActivityFetchFailed> = { ref, epoch, asked, status, attempt, scope: null }
  return [{ type: 'ActivityFetchFailed', data }]
}

/** The activities of a page and the page. The second page is the last one. */
const pageAnswer = (
  call: Call,
  via: 'backfill' | 'resync',
  pageOf: (body: Of<BackfillPageFetched>) => AskAnswer,
): readonly AskAnswer[] => {
  const { random, body, now, key } = call
  const page = body as Pick<Of<BackfillPageFetched>, 'epoch' | 'run' | 'page'>
  const refs = random.shuffled(ACTIVITIES).slice(0, random.between(0, 2))
  const asked = Math.floor(now / 1000)
  const done = page.page > 1 || random.chance(0.5)
  return [
    ...refs.map((ref) => fetched(call, { ref, epoch: page.epoch, asked, via })),
    {
      ...pageOf({ ...page, count: refs.length, done }),
      personal: { oldest: asked },
      subjectId: stravaSubject(key, page.epoch),
    },
  ]
}

const backfillAnswer = (call: Call): readonly AskAnswer[] =>
  pageAnswer(call, 'backfill', (data) => ({ type: 'BackfillPageFetched', data }))

const resyncAnswer = (call: Call): readonly AskAnswer[] =>
  pageAnswer(call, 'resync', ({ count: _, ...page }) => {
    const missing = ACTIVITIES.filter(() => call.random.chance(0.2))
    return { type: 'ResyncPageFetched', data: { ...page, missing } satisfies Of<ResyncPageFetched> }
  })

const checkAnswer = ({ random, body }: Call): readonly AskAnswer[] => {
  const { epoch, asked } = body as Pick<Of<DeauthorisationChecked>, 'epoch' | 'asked'>
  const data: Of<DeauthorisationChecked> = { epoch, asked, verdict: random.pick(['gone', 'valid']) }
  return [{ type: 'DeauthorisationChecked', data }]
}

const revokeAnswer = ({ body }: Call): readonly AskAnswer[] => {
  const { epoch } = body as Pick<Of<StepDone>, 'epoch'>
  return [{ type: 'StepDone', data: { step: 'revoke', epoch, result: '200' } satisfies Of<StepDone> }]
}

const answering =
  (answer: (call: Call) => readonly AskAnswer[]) =>
  (ask: AskCall, random: Random): AskResult => ({ events: answer({ ...ask, random }) })

/** A Strava that answers the asks of the domain at random. */
export const stravaAnswers: Answers = {
  fetch: answering(fetchAnswer),
  backfill: answering(backfillAnswer),
  resync: answering(resyncAnswer),
  check: answering(checkAnswer),
  revoke: answering(revokeAnswer),
}
