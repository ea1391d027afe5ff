import type { Event } from '../../schemas/event.ts'
import type { Reader } from '../../projections/table.ts'
import type { Commands } from '../commands.ts'
import type { Access, ServingGeneration } from '../http/auth.ts'

/** The devices of a domain: their topics, their owners, and the events that their messages contain. */
export interface DeviceSpec {
  /** The first level of the domain's topics. No two domains have the same root. A topic is `{root}/{owner}/{device}/{kind}`. */
  readonly root: string
  /** The noun for the owner of a device in error texts, for example `location`. */
  readonly ownerNoun: string
  /** All values that the last level of a topic can have. */
  readonly kinds: readonly string[]
  /** The kind of the messages with a device's connection status. Only these can be retained, and only these can be a last will. */
  readonly statusKind: string
  /** True if the text can be the id of a device or of an owner. An id contains no `/`, `#`, `+` or `$`. */
  isId(text: string): boolean
  /** Reads the current owner of a device. Undefined if the device has no owner. */
  readOwner(reader: Reader, device: string): Promise<DeviceOwner | undefined>
  /** Returns the events of messages of one device that are appended together. A message that cannot be read becomes a quarantined event. */
  eventsOf(messages: readonly DeviceMessage[], sender: MessageSender): DeviceEvents
}

/** The owner of a device. */
export interface DeviceOwner {
  readonly id: string
  /** Counts the claims of the device. Events contain the epoch, so that the fold can reject an event from the time of an earlier owner. */
  readonly epoch: number
}

/** The levels of a topic after its root. */
export interface DeviceTopic {
  readonly ownerId: string
  readonly device: string
  readonly kind: string
}

/** A message of a device. */
export interface DeviceMessage extends DeviceTopic {
  readonly payload: Buffer
}

/** The device that sent messages. */
export interface MessageSender {
  readonly device: string
  readonly owner: DeviceOwner | undefined
  /** The `source` of the events. */
  readonly source: string
  /** The time at which the messages arrived, in epoch milliseconds. */
  readonly received: number
}

/** The events of messages that are appended together. */
export interface DeviceEvents {
  readonly events: readonly Event[]
  /** The reason of each quarantined event. */
  readonly quarantined: readonly string[]
}

/** A domain whose devices use MQTT. */
export interface DeviceDomain {
  readonly name: string
  readonly access: Access
  readonly commands: Commands
  readonly serving: () => Promise<ServingGeneration>
  readonly devices: DeviceSpec
}

const LEVELS = 4

/** Returns the levels of a topic. Undefined if the topic does not belong to a device of the domain. */
const parseTopic = ({ root, kinds, isId }: DeviceSpec, topic: string): DeviceTopic | undefined => {
  const levels = topic.split('/', LEVELS + 1)
  const [first, ownerId = '', device = '', kind = ''] = levels
  const isValid = levels.length === LEVELS && first === root && isId(ownerId) && isId(device) && kinds.includes(kind)
  return isValid ? { ownerId, device, kind } : undefined
}

type WithDevices = Pick<DeviceDomain, 'devices'>

/** Returns the levels of a topic and the domain of its device. Undefined if the topic belongs to no device of the domains. */
export const findTopic = <D extends WithDevices>(
  domains: readonly D[],
  topic: string,
): (DeviceTopic & { readonly domain: D }) | undefined => {
  for (const domain of domains) {
    const found = parseTopic(domain.devices, topic)
    if (found !== undefined) return { ...found, domain }
  }
  return undefined
}

/** The MQTT topic filter that matches the topics of all devices of a domain. */
export const topicFilter = ({ root }: DeviceSpec): string => `${root}/+/+/+`

/** The topics of one device, for error texts. */
export const topicsText = ({ root, ownerNoun }: DeviceSpec, device: string): string =>
  `${root}/<its ${ownerNoun}>/${device}/`
