import { isId } from '../../projections/scales/keys.ts'
import { messageOf } from '../../schemas/fault.ts'
import type { DeviceMessage, DeviceSpec } from '../mqtt/spec.ts'
import { EVENT_TYPES, MOST_BY_MQTT, TOPIC_ROOT } from './device-envelope.ts'
import { envelopeEvents, statusEvents, unreadableEvents, type MessageEvents, type Sender } from './device-events.ts'
import { readDeviceOwner } from './device-owner.ts'
import { parsePayload } from './device-payload.ts'
import { withDistinctTimes } from './distinct-times.ts'

const STATUS = 'status'

/** Keg scales over MQTT: `scale-sense/{location}/{device}/{kind}`. */
export const scaleDevices: DeviceSpec = {
  root: TOPIC_ROOT,
  ownerNoun: 'location',
  kinds: [...EVENT_TYPES, STATUS],
  statusKind: STATUS,
  isId,
  readOwner: readDeviceOwner,
  eventsOf(messages, sender) {
    const all = messages.map((message) =>
      messageEvents(message, { ...sender, loc: message.ownerId, actor: sender.device, correlationId: null }),
    )
    return {
      events: withDistinctTimes(all.flatMap(({ events }) => events)),
      quarantined: all.flatMap(({ quarantined }) => quarantined.map(({ reason }) => reason)),
    }
  },
}

/** The maximum number of bytes of an unreadable message that are decoded for the quarantine. */
const RAW_BYTES = 8_000

const messageEvents = ({ kind, payload }: DeviceMessage, sender: Sender): MessageEvents => {
  let value: unknown
  try {
    value = parsePayload(payload)
  } catch (error) {
    return unreadableEvents(
      { reason: 'malformed', detail: messageOf(error) },
      payload.subarray(0, RAW_BYTES).toString('utf8'),
      sender,
    )
  }
  return kind === STATUS ? statusEvents(value, sender) : envelopeEvents(value, sender, MOST_BY_MQTT)
}
