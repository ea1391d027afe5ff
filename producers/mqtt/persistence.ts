import { Readable } from 'node:stream'
import type { StoredMessage, StoredSubscription, Session, Sessions } from './sessions.ts'

interface ClientRef {
  readonly id: string
}

interface PacketRef {
  readonly messageId?: number | undefined
}

/** A message as aedes passes it: its payload is a view of the chunk that the socket received. */
type PassedMessage = Omit<StoredMessage, 'payload'> & { readonly payload: string | Buffer }

/** Copies the payload: a view would keep the whole chunk in memory. */
const copyOf = ({ cmd, topic, payload, qos, retain, brokerId, brokerCounter }: PassedMessage): StoredMessage => ({
  cmd,
  topic,
  payload: Buffer.from(payload),
  qos,
  retain,
  brokerId,
  brokerCounter,
  messageId: undefined,
})

/**
 * Returns the device that a topic belongs to. Undefined if there is none. Only this device can subscribe to the topic, because the broker admits
 * a device only to its own topics, without wildcards.
 */
type DeviceOf = (topic: string) => string | undefined

/** The storage that aedes, the MQTT library, calls. Stores everything in `sessions`, except last wills: the broker itself keeps these in memory. */
export const createPersistence = (sessions: Sessions, deviceOf: DeviceOf) => ({
  setup: async (): Promise<void> => {},
  ...retainedIn(sessions, deviceOf),
  ...subscriptionsIn(sessions, deviceOf),
  ...queuesIn(sessions),
  ...receivedIn(sessions),
  putWill: async (): Promise<void> => {},
  delWill: async (): Promise<void> => {},
  streamWill: () => Readable.from([]),
})

/** Changes the session of a device if it has one. Removes the session if it is empty afterwards. */
const change = (sessions: Sessions, device: string, work: (session: Session) => void): void => {
  const session = sessions.find(device)
  if (session === undefined) return
  work(session)
  sessions.prune(session)
}

const retainedIn = (sessions: Sessions, deviceOf: DeviceOf) => ({
  async storeRetained(packet: PassedMessage): Promise<void> {
    const device = deviceOf(packet.topic) ?? ''
    if (packet.payload.length > 0) {
      const session = sessions.open(device)
      sessions.retain(session, copyOf(packet))
      sessions.prune(session)
      return
    }
    change(sessions, device, (session) => {
      if (session.retained?.topic === packet.topic) sessions.retain(session, undefined)
    })
  },
  createRetainedStreamCombi: (topics: readonly string[]) =>
    Readable.from(
      topics.flatMap((topic) => {
        const retained = sessions.find(deviceOf(topic) ?? '')?.retained
        return retained?.topic === topic ? [retained] : []
      }),
    ),
})

const subscriptionsIn = (sessions: Sessions, deviceOf: DeviceOf) => ({
  /** Stores only subscriptions to the device's own topics: if one subscription of a packet is granted, aedes also passes the refused ones. */
  async addSubscriptions({ id }: ClientRef, subscriptions: readonly StoredSubscription[]): Promise<void> {
    const session = sessions.open(id)
    for (const { topic, qos } of subscriptions)
      if (deviceOf(topic) === id) session.subscriptions.set(topic, { topic, qos })
    sessions.prune(session)
  },
  async removeSubscriptions({ id }: ClientRef, topics: readonly string[]): Promise<void> {
    change(sessions, id, ({ subscriptions }) => topics.forEach((topic) => subscriptions.delete(topic)))
  },
  subscriptionsByClient: async ({ id }: ClientRef): Promise<readonly StoredSubscription[]> => [
    ...(sessions.find(id)?.subscriptions.values() ?? []),
  ],
  async subscriptionsByTopic(topic: string): Promise<readonly (StoredSubscription & { readonly clientId: string })[]> {
    const clientId = deviceOf(topic) ?? ''
    const subscription = sessions.find(clientId)?.subscriptions.get(topic)
    return subscription === undefined || subscription.qos === 0 ? [] : [{ ...subscription, clientId }]
  },
  /** Called when the device starts a clean session. Removes the subscriptions and the queue. The retained message stays. */
  async cleanSubscriptions({ id }: ClientRef): Promise<void> {
    change(sessions, id, (session) => {
      session.subscriptions.clear()
      while (session.queue.length > 0) sessions.replace(session, 0)
    })
  },
})

const queuesIn = (sessions: Sessions) => {
  const enqueue = async (
    subscriptions: readonly { readonly clientId: string }[],
    packet: PassedMessage,
  ): Promise<void> => {
    for (const { clientId } of subscriptions)
      sessions.enqueue(sessions.open(clientId), { ...copyOf(packet), retain: false })
  }
  return {
    outgoingEnqueue: (subscription: { readonly clientId: string }, packet: PassedMessage) =>
      enqueue([subscription], packet),
    outgoingEnqueueCombi: enqueue,
    /** Stores the id with which the message is sent, or replaces the message by its PUBREL. Does nothing if the message was dropped before. */
    async outgoingUpdate({ id }: ClientRef, packet: StoredMessage): Promise<void> {
      const session = sessions.find(id)
      if (session === undefined) return
      const index = session.queue.findIndex((message) =>
        packet.cmd === 'pubrel' ? message.messageId === packet.messageId : isSame(message, packet),
      )
      const stored = session.queue[index]
      if (stored === undefined) return
      if (packet.cmd !== 'pubrel') stored.messageId = packet.messageId
      else sessions.replace(session, index, { ...stored, cmd: 'pubrel', payload: EMPTY, messageId: packet.messageId })
    },
    async outgoingClearMessageId({ id }: ClientRef, { messageId }: PacketRef): Promise<StoredMessage | undefined> {
      const session = sessions.find(id)
      const index = session?.queue.findIndex((message) => message.messageId === messageId) ?? -1
      if (session === undefined || index < 0) return undefined
      const stored = session.queue[index]
      sessions.replace(session, index)
      sessions.prune(session)
      return stored
    },
    outgoingStream: ({ id }: ClientRef) => Readable.from([...(sessions.find(id)?.queue ?? [])]),
  }
}

const EMPTY = Buffer.alloc(0)

const isSame = (stored: StoredMessage, packet: StoredMessage): boolean =>
  stored.brokerId === packet.brokerId && stored.brokerCounter === packet.brokerCounter

/** Stores the ids of received QoS 2 messages, to recognise copies. The messages themselves are already in the log. */
const receivedIn = (sessions: Sessions) => {
  const findReceived = (id: string, messageId: number): Session => {
    const session = sessions.find(id)
    if (session?.received.has(messageId)) return session
    throw new Error('no such packet')
  }
  return {
    incomingStorePacket: async ({ id }: ClientRef, { messageId = 0 }: PacketRef): Promise<void> =>
      sessions.receive(sessions.open(id), messageId),
    async incomingGetPacket({ id }: ClientRef, { messageId = 0 }: PacketRef): Promise<PacketRef> {
      findReceived(id, messageId)
      return { messageId }
    },
    async incomingDelPacket({ id }: ClientRef, { messageId = 0 }: PacketRef): Promise<void> {
      const session = findReceived(id, messageId)
      session.received.delete(messageId)
      sessions.prune(session)
    },
    cleanIncoming: async ({ id }: ClientRef): Promise<void> => change(sessions, id, ({ received }) => received.clear()),
  }
}
