import type { DeviceOwner } from '../mqtt/spec.ts'
import { runInParts } from '../run-in-parts.ts'
import { mistake, Problem } from '../http/problem.ts'
import type { Batch, Call, Route } from '../http/route.ts'
import { EVENT_TYPES, MOST_BY_HTTP } from './device-envelope.ts'
import { readDeviceOwner } from './device-owner.ts'
import { envelopeEventsInParts } from './device-events.ts'
import { deviceOf } from './params.ts'
import { requireMember } from './rights.ts'
import { withDistinctTimes } from './distinct-times.ts'

const count = { type: 'integer', minimum: 0 } as const
const loose = (description: string) =>
  ({ type: 'array', minItems: 1, maxItems: MOST_BY_HTTP, items: {}, description }) as const

/** The schema does not check the events. `envelopeEventsInParts` checks each event and quarantines wrong events, so that all others are accepted. */
const bodySchema = {
  type: 'object',
  additionalProperties: false,
  required: ['boot'],
  properties: {
    v: { type: 'integer', description: 'With `events`: 1.' },
    boot: { type: ['string', 'integer'], description: 'A value that changes at each start of the device.' },
    sent_uptime_ms: count,
    dropped: { ...count, description: 'Events that the device has lost since it booted, because its buffer was full.' },
    events: loose(
      `\`{seq, type, age_ms, data}\`, as over MQTT (docs/devices.md). \`type\` is one of ${EVENT_TYPES.join(', ')}.`,
    ),
    readings: loose(
      'Instead of `events`: `{seq, age_ms, device_ts, weight_lbs, level_pct, battery_v, battery_pct, tare_status, fw}`.',
    ),
  },
} as const

const resultSchema = {
  type: 'object',
  description:
    'All events are in the log. Events that failed a check are quarantined, and listed here and in the quarantine of the device.',
  required: ['event', 'accepted', 'quarantined'],
  properties: {
    event: { type: 'string' },
    accepted: count,
    quarantined: {
      type: 'array',
      items: {
        type: 'object',
        required: ['index', 'reason', 'detail'],
        properties: { index: count, reason: { type: 'string' }, detail: { type: 'string' } },
      },
    },
  },
} as const

/**
 * Returns the owner of the device. Throws if the caller is neither the device itself nor a member of the location that owns the device. Undefined
 * if the caller is a device that no location has claimed.
 */
const admittedOwner = async (
  call: Pick<Call, 'caller' | 'params'>,
  device: string,
): Promise<DeviceOwner | undefined> => {
  const { reader, user, scopes } = call.caller
  const owner = await readDeviceOwner(reader, device)
  if (scopes.includes('device')) {
    if (user !== device)
      throw new Problem(403, 'wrong-device', `The token is for the device ${user} and for no other device.`)
    return owner
  }
  if (owner === undefined) throw deviceOf.missing(device)
  // A stranger gets the same answer for every device, whether it exists or not.
  await requireMember(call, owner.id).catch((error: unknown) => {
    throw error instanceof Problem ? deviceOf.missing(device) : error
  })
  return owner
}

const report: Batch = {
  method: 'POST',
  url: '/v1/devices/:device/readings',
  operationId: 'reportReadings',
  summary:
    'Report 1 to 1,000 readings, telemetry values, tares and calibrations of a device. Sending them again changes nothing.',
  body: bodySchema,
  bodyLimit: 1024 * 1024,
  status: 202,
  result: resultSchema,
  alsoFor: 'device',
  async collect(call, how) {
    const device = deviceOf(call)
    const owner = await admittedOwner(call, device)
    const { events, quarantined } = await runInParts(
      envelopeEventsInParts(
        call.body,
        { device, owner, actor: call.caller.user, received: call.now, ...how },
        MOST_BY_HTTP,
      ),
    )
    const whole = quarantined.find(({ index }) => index === null)
    if (whole !== undefined) throw mistake(400, { pointer: '', code: 'bad-batch', detail: whole.detail })
    return {
      events: withDistinctTimes(events),
      quarantined: quarantined.map(({ reason }) => reason),
      answer: { accepted: events.length - quarantined.length, quarantined },
    }
  },
}

export const readingRoutes: readonly Route[] = [report]
