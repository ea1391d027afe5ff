/** A message that the broker stores for a device, or a PUBREL that the device has not confirmed. */
export interface StoredMessage {
  readonly cmd: string
  readonly topic: string
  readonly payload: Buffer
  readonly qos: number
  readonly retain: boolean
  readonly brokerId?: string | undefined
  readonly brokerCounter?: number | undefined
  messageId?: number | undefined
}

export interface StoredSubscription {
  readonly topic: string
  readonly qos: number
}

/** The state that the broker stores for one device. */
export interface Session {
  readonly device: string
  readonly subscriptions: Map<string, StoredSubscription>
  /** The device's latest retained message. */
  retained: StoredMessage | undefined
  /** Messages that the device has not acknowledged, the oldest first. */
  readonly queue: StoredMessage[]
  /** Ids of QoS 2 messages that the device sent and has not released, the oldest first. */
  readonly received: Set<number>
  /** The time at which the device was last connected, in epoch milliseconds. */
  seenAt: number
}

export interface SessionBounds {
  /** The maximum size of a retained message, in bytes. A device has at most one retained message. */
  readonly retainedBytes: number
  readonly queuedMessages: number
  readonly queuedBytes: number
  /** The maximum size of all retained and queued messages of all devices together, in bytes. */
  readonly totalBytes: number
  /** The maximum number of devices with a session. */
  readonly sessions: number
  /** The time after which the session of a disconnected device is removed. */
  readonly expiryMs: number
}

export const SESSION_BOUNDS: SessionBounds = {
  retainedBytes: 4 * 1024,
  queuedMessages: 100,
  queuedBytes: 128 * 1024,
  totalBytes: 32 * 1024 * 1024,
  sessions: 10_000,
  expiryMs: 24 * 60 * 60 * 1000,
}

/** The reason why the broker drops a message or a session. */
export type DropCause = 'queue-full' | 'retained-too-large' | 'total-full' | 'sessions-full' | 'session-expired'

export interface SessionTotals {
  readonly sessions: number
  readonly messages: number
  readonly bytes: number
}

export interface SessionParts {
  readonly bounds?: SessionBounds
  readonly now: () => number
  readonly isConnected: (device: string) => boolean
  readonly dropped: (cause: DropCause, device: string) => void
}

const MOST_RECEIVED = 100
/** Estimated memory of a message in addition to its payload and topic. */
const OVERHEAD_BYTES = 256

const sizeOf = ({ payload, topic }: Pick<StoredMessage, 'payload' | 'topic'>): number =>
  payload.length + topic.length + OVERHEAD_BYTES

const messagesOf = ({ queue, retained }: Session): readonly StoredMessage[] =>
  retained === undefined ? queue : [...queue, retained]
const bytesOf = (messages: readonly StoredMessage[]): number =>
  messages.reduce((sum, message) => sum + sizeOf(message), 0)

const isEmpty = ({ subscriptions, retained, queue, received }: Session): boolean =>
  subscriptions.size + queue.length + received.size === 0 && retained === undefined

const emptySession = (device: string): Session => ({
  device,
  subscriptions: new Map(),
  retained: undefined,
  queue: [],
  received: new Set(),
  seenAt: 0,
})

/** The sessions by device, with the number and size of their messages. */
const createTable = ({ bounds, now, isConnected, dropped }: Required<SessionParts>) => {
  /** Ordered by last use. The session that was used longest ago comes first. */
  const sessions = new Map<string, Session>()
  const total = { messages: 0, bytes: 0 }

  const count = (message: StoredMessage | undefined, sign: 1 | -1): void => {
    if (message === undefined) return
    total.messages += sign
    total.bytes += sign * sizeOf(message)
  }
  const clear = (session: Session): void => {
    for (const message of messagesOf(session)) count(message, -1)
    session.queue.length = 0
    session.retained = undefined
  }
  const remove = (session: Session): void => {
    clear(session)
    sessions.delete(session.device)
  }
  const prune = (session: Session): void => void (isEmpty(session) && remove(session))
  const makeRoom = (): void => {
    if (sessions.size < bounds.sessions) return
    for (const session of sessions.values()) {
      if (isConnected(session.device)) continue
      dropped('sessions-full', session.device)
      return remove(session)
    }
  }
  return {
    sessions,
    total,
    count,
    remove,
    prune,
    open(device: string): Session {
      const known = sessions.get(device)
      if (known === undefined) makeRoom()
      const session = known ?? emptySession(device)
      session.seenAt = now()
      sessions.delete(device)
      sessions.set(device, session)
      return session
    },
    /** Clears the sessions that were used longest ago, until the total is within its bound. */
    enforceTotal(): void {
      for (const session of sessions.values()) {
        if (total.bytes <= bounds.totalBytes) return
        if (messagesOf(session).length === 0) continue
        dropped('total-full', session.device)
        clear(session)
        prune(session)
      }
    },
  }
}

/** The sessions of all devices. If they exceed `bounds`, the oldest messages and sessions are dropped. */
export const createSessions = ({ bounds = SESSION_BOUNDS, now, isConnected, dropped }: SessionParts) => {
  const { sessions, total, count, remove, prune, open, enforceTotal } = createTable({
    bounds,
    now,
    isConnected,
    dropped,
  })
  return {
    /** Returns the session of the device. Creates the session if there is none. */
    open,
    find: (device: string): Session | undefined => sessions.get(device),
    /** Removes the session if it is empty. */
    prune,
    /** Replaces the device's retained message. If `message` is undefined or too large, removes the retained message. */
    retain(session: Session, message: StoredMessage | undefined): void {
      const isTooLarge = message !== undefined && message.payload.length > bounds.retainedBytes
      if (isTooLarge) dropped('retained-too-large', session.device)
      count(session.retained, -1)
      session.retained = isTooLarge ? undefined : message
      count(session.retained, 1)
      enforceTotal()
    },
    enqueue(session: Session, message: StoredMessage): void {
      session.queue.push(message)
      count(message, 1)
      while (session.queue.length > bounds.queuedMessages || bytesOf(session.queue) > bounds.queuedBytes) {
        count(session.queue.shift(), -1)
        dropped('queue-full', session.device)
      }
      enforceTotal()
    },
    /** Replaces the message at `index` of the queue. If `message` is undefined, removes it. */
    replace(session: Session, index: number, message?: StoredMessage): void {
      count(session.queue[index], -1)
      count(message, 1)
      session.queue.splice(index, 1, ...(message === undefined ? [] : [message]))
    },
    receive({ received }: Session, messageId: number): void {
      received.add(messageId)
      for (const oldest of received) {
        if (received.size <= MOST_RECEIVED) break
        received.delete(oldest)
      }
    },
    /** Removes the sessions of devices that have been disconnected for too long. */
    expire(): void {
      for (const session of sessions.values()) {
        if (isConnected(session.device)) session.seenAt = now()
        else if (now() - session.seenAt >= bounds.expiryMs) {
          dropped('session-expired', session.device)
          remove(session)
        }
      }
    },
    totals: (): SessionTotals => ({ sessions: sessions.size, ...total }),
  }
}

export type Sessions = ReturnType<typeof createSessions>
