import { Readable } from 'node:stream'
import type { KeptMessage, KeptSubscription, Session, Sessions } from './sessions.ts'
import { topicOf } from './topic.ts'

interface Named {
  readonly id: string
}

interface Numbered {
  readonly messageId?: number | undefined
}

/** A message as aedes passes it: its payload is a view of the chunk that the socket received. */
type Passed = Omit<KeptMessage, 'payload'> & { readonly payload: string | Buffer }

/** Copies the payload: a view would keep the whole chunk in memory. */
const copyOf = ({ cmd, topic, payload, qos, retain, brokerId, brokerCounter }: Passed): KeptMessage =>
  ({ cmd, topic, payload: Buffer.from(payload), qos, retain, brokerId, brokerCounter, messageId: undefined })

/** The broker admits exact topics of the device itself only, so a topic names the one device that can subscribe to it. */
const deviceIn = (topic: string): string => topicOf(topic)?.device ?? ''

/** The storage that aedes calls. It keeps everything in `sessions`, except last wills: the only broker that could publish them has them in memory. */
export const createPersistence = (sessions: Sessions) => ({
  setup: async (): Promise<void> => {},
  ...retainedIn(sessions),
  ...subscriptionsIn(sessions),
  ...queuesIn(sessions),
  ...receivedIn(sessions),
  putWill: async (): Promise<void> => {},
  delWill: async (): Promise<void> => {},
  streamWill: () => Readable.from([]),
})

/** Changes the session of a device if it has one, and removes the session if nothing is left in it. */
const change = (sessions: Sessions, device: string, work: (session: Session) => void): void => {
  const session = sessions.find(device)
  if (session === undefined) return
  work(session)
  sessions.prune(session)
}

const retainedIn = (sessions: Sessions) => ({
  async storeRetained(packet: Passed): Promise<void> {
    const device = deviceIn(packet.topic)
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
    Readable.from(topics.flatMap((topic) => {
      const retained = sessions.find(deviceIn(topic))?.retained
      return retained?.topic === topic ? [retained] : []
    })),
})

const subscriptionsIn = (sessions: Sessions) => ({
  /** aedes passes all subscriptions of a packet as soon as one is granted, those too that are refused. */
  async addSubscriptions({ id }: Named, subscriptions: readonly KeptSubscription[]): Promise<void> {
    const session = sessions.open(id)
    for (const { topic, qos } of subscriptions) if (deviceIn(topic) === id) session.subscriptions.set(topic, { topic, qos })
    sessions.prune(session)
  },
  async removeSubscriptions({ id }: Named, topics: readonly string[]): Promise<void> {
    change(sessions, id, ({ subscriptions }) => topics.forEach((topic) => subscriptions.delete(topic)))
  },
  subscriptionsByClient: async ({ id }: Named): Promise<readonly KeptSubscription[]> => [...(sessions.find(id)?.subscriptions.values() ?? [])],
  async subscriptionsByTopic(topic: string): Promise<readonly (KeptSubscription & { readonly clientId: string })[]> {
    const clientId = deviceIn(topic)
    const subscription = sessions.find(clientId)?.subscriptions.get(topic)
    return subscription === undefined || subscription.qos === 0 ? [] : [{ ...subscription, clientId }]
  },
  /** The device begins a clean session: only its retained message stays. */
  async cleanSubscriptions({ id }: Named): Promise<void> {
    change(sessions, id, (session) => {
      session.subscriptions.clear()
      while (session.queue.length > 0) sessions.replace(session, 0)
    })
  },
})

const queuesIn = (sessions: Sessions) => {
  const enqueue = async (subscriptions: readonly { readonly clientId: string }[], packet: Passed): Promise<void> => {
    for (const { clientId } of subscriptions) sessions.enqueue(sessions.open(clientId), { ...copyOf(packet), retain: false })
  }
  return {
    outgoingEnqueue: (subscription: { readonly clientId: string }, packet: Passed) => enqueue([subscription], packet),
    outgoingEnqueueCombi: enqueue,
    /** Records the id under which the message is sent, or replaces it by its PUBREL. A message that was dropped meanwhile is sent but not kept. */
    async outgoingUpdate({ id }: Named, packet: KeptMessage): Promise<void> {
      const session = sessions.find(id)
      if (session === undefined) return
      const index = session.queue.findIndex((kept) => (packet.cmd === 'pubrel' ? kept.messageId === packet.messageId : isSame(kept, packet)))
      const kept = session.queue[index]
      if (kept === undefined) return
      if (packet.cmd !== 'pubrel') kept.messageId = packet.messageId
      else sessions.replace(session, index, { ...kept, cmd: 'pubrel', payload: NOTHING, messageId: packet.messageId })
    },
    async outgoingClearMessageId({ id }: Named, { messageId }: Numbered): Promise<KeptMessage | undefined> {
      const session = sessions.find(id)
      const index = session?.queue.findIndex((kept) => kept.messageId === messageId) ?? -1
      if (session === undefined || index < 0) return undefined
      const kept = session.queue[index]
      sessions.replace(session, index)
      sessions.prune(session)
      return kept
    },
    outgoingStream: ({ id }: Named) => Readable.from([...(sessions.find(id)?.queue ?? [])]),
  }
}

const NOTHING = Buffer.alloc(0)

const isSame = (kept: KeptMessage, packet: KeptMessage): boolean => kept.brokerId === packet.brokerId && kept.brokerCounter === packet.brokerCounter

/** QoS 2: the message itself is in the log before it is stored here, so its id is enough to recognise a copy. */
const receivedIn = (sessions: Sessions) => {
  const demand = (id: string, messageId: number): Session => {
    const session = sessions.find(id)
    if (session?.received.has(messageId)) return session
    throw new Error('no such packet')
  }
  return {
    incomingStorePacket: async ({ id }: Named, { messageId = 0 }: Numbered): Promise<void> => sessions.receive(sessions.open(id), messageId),
    async incomingGetPacket({ id }: Named, { messageId = 0 }: Numbered): Promise<Numbered> {
      demand(id, messageId)
      return { messageId }
    },
    async incomingDelPacket({ id }: Named, { messageId = 0 }: Numbered): Promise<void> {
      const session = demand(id, messageId)
      session.received.delete(messageId)
      sessions.prune(session)
    },
    cleanIncoming: async ({ id }: Named): Promise<void> => change(sessions, id, ({ received }) => received.clear()),
  }
}
