import { inTurns } from '../turns.ts'
import { mistake, Problem } from '../http/problem.ts'
import type { Batch, Call, Route } from '../http/route.ts'
import { EVENT_TYPES, MOST_BY_HTTP } from './envelope.ts'
import { readHolder, type Holder } from './holder.ts'
import { takeEnvelopeInParts } from './intake.ts'
import { deviceOf } from './params.ts'
import { demandMember } from './rights.ts'
import { spaced } from './spacing.ts'

const count = { type: 'integer', minimum: 0 } as const
const loose = (description: string) => ({ type: 'array', minItems: 1, maxItems: MOST_BY_HTTP, items: {}, description }) as const

/** The schema only describes the events. `takeEnvelopeInParts` checks each one and quarantines a wrong one, so that the others of the request are accepted. */
const bodySchema = {
  type: 'object',
  additionalProperties: false,
  required: ['boot'],
  properties: {
    v: { type: 'integer', description: 'With `events`: 1.' },
    boot: { type: ['string', 'integer'], description: 'Changes whenever the device starts.' },
    sent_uptime_ms: count,
    dropped: { ...count, description: 'Events the device lost for lack of room since it booted.' },
    events: loose(`\`{seq, type, age_ms, data}\`, type one of ${EVENT_TYPES.join(', ')}: as over MQTT, see docs/devices.md.`),
    readings: loose('Instead of `events`: `{seq, age_ms, device_ts, weight_lbs, level_pct, battery_v, battery_pct, tare_status, fw}`.'),
  },
} as const

const resultSchema = {
  type: 'object',
  description: 'All of it is in the log. What was not believed is kept, and listed here and at the location.',
  required: ['event', 'accepted', 'quarantined'],
  properties: {
    event: { type: 'string' },
    accepted: count,
    quarantined: {
      type: 'array',
      items: { type: 'object', required: ['index', 'reason', 'detail'], properties: { index: count, reason: { type: 'string' }, detail: { type: 'string' } } },
    },
  },
} as const

/** The device itself, or somebody of the location that holds it. */
const holderOf = async (call: Pick<Call, 'caller' | 'params'>, device: string): Promise<Holder | undefined> => {
  const { reader, user, scopes } = call.caller
  const holder = await readHolder(reader, device)
  if (scopes.includes('device')) {
    if (user !== device) throw new Problem(403, 'wrong-device', `The token speaks for the device ${user} and for no other.`)
    return holder
  }
  if (holder === undefined) throw deviceOf.missing(device)
  // A stranger gets the same answer for every device, whether it exists or not.
  await demandMember(call, holder.loc).catch((error: unknown) => {
    throw error instanceof Problem ? deviceOf.missing(device) : error
  })
  return holder
}

const report: Batch = {
  method: 'POST',
  url: '/v1/devices/:device/readings',
  operationId: 'reportReadings',
  summary: 'Report readings, telemetry, tares and calibrations of a device, 1 to 1,000 at once. Sent again, they change nothing.',
  body: bodySchema,
  bodyLimit: 1024 * 1024,
  status: 202,
  result: resultSchema,
  alsoFor: 'device',
  async collect(call, how) {
    const device = deviceOf(call)
    const holder = await holderOf(call, device)
    const { events, refused } = await inTurns(takeEnvelopeInParts(call.body, { device, holder, actor: call.caller.user, received: call.now, ...how }, MOST_BY_HTTP))
    const whole = refused.find(({ index }) => index === null)
    if (whole !== undefined) throw mistake(400, { pointer: '', code: 'bad-batch', detail: whole.detail })
    return { events: spaced(events), doubts: refused.map(({ reason }) => reason), answer: { accepted: events.length - refused.length, quarantined: refused } }
  },
}

export const readingRoutes: readonly Route[] = [report]
