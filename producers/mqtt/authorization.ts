import type { AuthorizePublishHandler, AuthorizeSubscribeHandler, Client } from 'aedes'
import { Fault, isFault, messageOf } from '../../schemas/fault.ts'
import { Problem } from '../http/problem.ts'
import type { DeviceQueues } from './device-queues.ts'
import type { Login, Refuse } from './login.ts'
import { findTopic, topicsText, type DeviceDomain } from './spec.ts'

interface AuthorizationParts {
  readonly login: Pick<Login, 'domainOf'>
  readonly refuse: Refuse
}

/** Returns the levels of the topic if the topic belongs to the device. Undefined otherwise. */
const ownTopic = (domain: DeviceDomain | undefined, device: string, topic: string) => {
  const found = domain && findTopic([domain], topic)
  return found?.device === device ? found : undefined
}

/** Handles a message of a device. aedes, the MQTT library, sends PUBACK after `done`, so the handler calls `done` when the log has the message. */
export const publishHandler =
  ({
    login,
    refuse,
    queues,
  }: AuthorizationParts & { queues: ReadonlyMap<DeviceDomain, DeviceQueues> }): AuthorizePublishHandler =>
  (client, packet, done) => {
    if (client === null) {
      done(new Fault('device-refused', 'The message has no sender.'))
      return
    }
    const domain = login.domainOf(client.id)
    const topic = ownTopic(domain, client.id, packet.topic)
    const queue = domain && queues.get(domain)
    if (domain === undefined || topic === undefined || queue === undefined) {
      const own = domain === undefined ? 'its own topics' : topicsText(domain.devices, client.id)
      done(refuse(client, 'topic', `it can publish to ${own} only.`))
    } else if (packet.retain && topic.kind !== domain.devices.statusKind)
      done(refuse(client, 'retained', `only messages of the kind ${domain.devices.statusKind} can be retained.`))
    else
      queue.append({ ...topic, payload: bytesOf(packet.payload) }).then(
        () => done(null),
        (error: unknown) => done(refuse(client, reasonOf(error), messageOf(error))),
      )
  }

const reasonOf = (error: unknown): string =>
  isFault(error, 'device-refused') ? 'topic' : error instanceof Problem ? 'token' : 'log'

/** The maximum number of different topics to which a connection subscribes, including ended subscriptions. No device has so many topics. */
const MOST_SUBSCRIPTIONS = 16

export const subscribeHandler = ({ login, refuse }: AuthorizationParts): AuthorizeSubscribeHandler => {
  const granted = new WeakMap<Client, Set<string>>()
  return (client, subscription, done) => {
    if (ownTopic(login.domainOf(client.id), client.id, subscription.topic) === undefined) {
      done(refuse(client, 'subscription', 'it can subscribe to its own topics only, without wildcards.'))
      return
    }
    const topics = (granted.get(client) ?? new Set()).add(subscription.topic)
    granted.set(client, topics)
    if (topics.size > MOST_SUBSCRIPTIONS)
      done(refuse(client, 'subscription', `it can subscribe to at most ${MOST_SUBSCRIPTIONS} topics per connection.`))
    else done(null, subscription)
  }
}

const bytesOf = (payload: string | Buffer): Buffer => (typeof payload === 'string' ? Buffer.from(payload) : payload)
