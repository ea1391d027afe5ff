import { createRandom, type Random } from '../../producers/demo/random.ts'
import { createSender, type Demo, type DemoAnswer, type DemoTarget } from '../../producers/demo/demo.ts'
import { Fault } from '../../schemas/fault.ts'
import { connectAthlete, stravaControl, type StravaControl } from './strava-control.ts'
import { APPLICATION } from './strava-local/strava.ts'

const MEMBERS = 5
/** Each member has so many activities before the demo. They arrive by the backfill. */
const EARLIER = 40
const FIRST_ATHLETE = 900_000_000
const MODELS = ['bicycle', 'rocket'] as const
const DAY_MS = 86_400_000
/** The maximum time until the activities of the demo are fetched: Strava's webhook, two seconds, and the call. */
const FETCHED_MS = 15_000

interface Member {
  readonly user: string
  readonly token: string
  readonly athlete: string
}

/** Simulates a club whose members connect the loopback Strava, set themselves milestones, and record activities. */
export const activitiesDemo: Demo = async (options, target) => {
  const { seconds, rate, seed } = options
  const { url, tally, clock, signal, progress, createToken, calledAs } = target
  const random = createRandom(seed)
  const send = createSender({ url, tally })
  const admin = await createToken(`demo-${seed}-admin`, 'read,write,admin')
  const control = await controlOf(target, admin)
  await control('PUT', '/subscription', { callback_url: `${url}/webhooks/strava/${APPLICATION.webhookSecret}` })
  for (const modelId of MODELS)
    await send({ method: 'POST', path: '/models', token: admin, body: modelOf(modelId), headers: JSON_ONLY })
  const members: Member[] = []
  for (let nth = 1; nth <= MEMBERS && !signal.aborted; nth += 1) {
    const user = `demo-${seed}-${nth}`
    const member = { user, token: await createToken(user), athlete: String(FIRST_ATHLETE + seed * 10 + nth) }
    await connect({ send, control }, member, { seed: seed * 10 + nth, nth })
    await send({ method: 'POST', path: '/milestones', token: member.token, body: milestoneOf(random, clock.now()) })
    members.push(member)
    progress(`${nth} of ${MEMBERS} members connected`)
  }
  const began = clock.now()
  for (let sent = 0; sent < seconds * rate && members.length > 0 && !signal.aborted; sent += 1) {
    await clock.sleep(began + (sent * 1000) / rate - clock.now(), signal)
    const member = members[random.whole(0, members.length - 1)]
    if (member === undefined) break
    await control('POST', `/athletes/${member.athlete}/activities`, activityOf(random, clock.now()))
    await send({ method: 'GET', path: '/milestones', token: member.token })
    progress(`${sent + 1} of ${seconds * rate} activities recorded`)
  }
  await untilFetched(target, send, members)
  tally.hint = `see a result: T=$(${calledAs} token create --user demo-${seed}-1 --domain activities); curl -s -H "Authorization: Bearer $T" ${url}/milestones\nor as text: ${calledAs} explain activities USER#demo-${seed}-1 STRAVA#CONNECTION`
}

const JSON_ONLY = { accept: 'application/json' }

type Send = ReturnType<typeof createSender>

/** Returns the control of the loopback Strava that the server uses. Throws if the server uses none. */
const controlOf = async ({ url, calledAs }: DemoTarget, token: string): Promise<StravaControl> => {
  const answer = await fetch(`${url}/strava/connect`, { headers: { ...JSON_ONLY, authorization: `Bearer ${token}` } })
  const { url: consent } = (await answer.json()) as { readonly url?: string }
  const origin = consent === undefined ? '' : new URL(consent).origin
  const control = isLoopback(origin) ? stravaControl(origin) : undefined
  if (control !== undefined && (await control('GET', '/clock').catch(() => undefined)) !== undefined) return control
  throw new Fault(
    'bad-usage',
    [
      'The server does not use the loopback Strava. This takes two steps:',
      `  1. In a terminal: ${calledAs} strava-local`,
      `  2. In another terminal, paste the lines "export …" that it prints, then: ${calledAs} start`,
    ].join('\n'),
  )
}

const isLoopback = (origin: string): boolean => /^http:\/\/(127\.0\.0\.1|localhost):\d+$/.test(origin)

const modelOf = (modelId: string) => ({
  modelId,
  name: modelId.charAt(0).toUpperCase() + modelId.slice(1),
  partsTotal: 12,
  parts: Array.from({ length: 12 }, (_, at) => ({
    partName: `Part ${at + 1}`,
    meshFile: `${modelId}-${at + 1}.glb`,
    attachPoint: `socket-${at + 1}`,
  })),
})

const NAMES = ['Ada', 'Ben', 'Cleo', 'Dan', 'Eva'] as const

/** Creates the athlete of a member, and connects both. A member of an earlier demo with the same seed is connected already. */
const connect = async (
  { send, control }: { readonly send: Send; readonly control: StravaControl },
  { token, athlete }: Member,
  { seed, nth }: { readonly seed: number; readonly nth: number },
): Promise<void> => {
  const firstname = NAMES[nth - 1] ?? 'Ada'
  const known = await control('GET', `/athletes/${athlete}`).catch(() => undefined)
  if (known === undefined)
    await control('POST', '/athletes', { id: athlete, firstname, generated: { count: EARLIER, seed } })
  await connectAthlete(control, athlete, (path) => send({ method: 'GET', path, token, headers: JSON_ONLY }))
}

const SPORTS = ['RIDE', 'RIDE', 'RUN'] as const
const milestoneOf = (random: Random, now: number) => ({
  modelId: random.pick(MODELS),
  sport: random.pick(SPORTS),
  targetType: 'DISTANCE_METERS',
  totalTarget: random.whole(40, 150) * 10_000,
  periodStartAtUtc: new Date(now - random.whole(30, 365) * DAY_MS).toISOString(),
})

const TYPES = ['Ride', 'GravelRide', 'VirtualRide', 'EBikeRide', 'Run', 'TrailRun', 'Swim', 'Walk'] as const
const activityOf = (random: Random, now: number) => ({
  name: random.pick(['Before breakfast', 'With the club', 'Home from work', 'Intervals, in the rain'] as const),
  sport_type: random.pick(TYPES),
  start: new Date(now - random.whole(1, 6) * 3_600_000).toISOString(),
  utc_offset: 3600,
  hide_start: random.chance(0.2),
  distance: random.whole(20, 900) * 100,
  elevation: random.chance(0.1) ? null : random.whole(0, 900),
  visibility: random.chance(0.2) ? 'only_me' : 'everyone',
})

/** Waits until the first member has the activities of the backfill, at most `FETCHED_MS`. The rate limit of Strava can delay it further. */
const untilFetched = async ({ clock, signal }: DemoTarget, send: Send, members: readonly Member[]): Promise<void> => {
  const until = clock.now() + FETCHED_MS
  for (const { token } of members)
    while (clock.now() < until && !signal.aborted) {
      const { body }: DemoAnswer = await send({ method: 'GET', path: '/strava/status', token })
      if ((body['backfill'] as { readonly done?: boolean } | undefined)?.done === true) break
      await clock.sleep(500, signal)
    }
}
