import { Fault } from '../../schemas/fault.ts'
import type { AppendMessages } from './append-messages.ts'
import { allowedFrom, type Rate } from './rate.ts'
import type { DeviceMessage } from './spec.ts'

export interface DeviceQueueParts {
  readonly appendMessages: AppendMessages
  readonly clock: { now(): number; sleep(ms: number): Promise<void> }
  /** The maximum rate of a device's messages. Default: 100 per second, 500 at once. */
  readonly rate?: Rate
  /** Called when a device waits because it exceeded its rate. */
  readonly delayed?: () => void
}

/** One message queue per device. Messages of a device are appended in order, up to `BATCH` per append, and no faster than the rate. */
export interface DeviceQueues {
  /** Resolves when the log has the events of the message. */
  append(message: DeviceMessage): Promise<void>
  /** Refuses new messages, and resolves when all queues are empty. */
  stop(): Promise<void>
}

interface QueuedMessage {
  readonly message: DeviceMessage
  resolve(): void
  reject(error: unknown): void
}

interface DeviceQueue {
  waiting: QueuedMessage[]
  /** Resolves when the queue is empty. Undefined if it is empty now. */
  running: Promise<void> | undefined
  /** The time from which the device is within its rate, in epoch milliseconds. */
  allowedFrom: number
}

const RATE: Rate = { perSecond: 100, burst: 500 }
/** The maximum number of messages per append. */
const BATCH = 64
const MOST_QUEUES = 10_000

export const createDeviceQueues = (parts: DeviceQueueParts): DeviceQueues => {
  const { clock } = parts
  const run = queueRunner(parts)
  const queues = new Map<string, DeviceQueue>()
  let stopping = false

  const removeIdle = (): void => {
    for (const [device, queue] of queues)
      if (queue.running === undefined && queue.allowedFrom <= clock.now()) queues.delete(device)
  }
  const queueOf = (device: string): DeviceQueue => {
    const known = queues.get(device)
    if (known !== undefined) return known
    if (queues.size >= MOST_QUEUES) removeIdle()
    const queue: DeviceQueue = { waiting: [], running: undefined, allowedFrom: 0 }
    queues.set(device, queue)
    return queue
  }
  return {
    append: (message) =>
      new Promise((resolve, reject) => {
        if (stopping) {
          reject(
            new Fault('log-unavailable', 'This process is stopping and accepts no more messages. Send it again.', {
              retriable: true,
            }),
          )
          return
        }
        const queue = queueOf(message.device)
        queue.waiting.push({ message, resolve, reject })
        queue.running ??= run(queue, message.device)
      }),
    async stop() {
      stopping = true
      for (const { running } of queues.values()) await running
    },
  }
}

/** Returns a function that appends the messages of a queue until the queue is empty. */
const queueRunner = ({ appendMessages, clock, rate = RATE, delayed }: DeviceQueueParts) => {
  const limitRate = async (queue: DeviceQueue, count: number): Promise<void> => {
    const now = clock.now()
    queue.allowedFrom = allowedFrom(queue.allowedFrom, { count, now }, rate)
    if (queue.allowedFrom <= now) return
    delayed?.()
    await clock.sleep(queue.allowedFrom - now)
  }
  return async (queue: DeviceQueue, device: string): Promise<void> => {
    // Messages that arrive in the same turn of the event loop are appended together.
    await Promise.resolve()
    while (queue.waiting.length > 0) {
      const batch = queue.waiting.splice(0, BATCH)
      try {
        await limitRate(queue, batch.length)
        await appendMessages(
          device,
          batch.map(({ message }) => message),
        )
        for (const { resolve } of batch) resolve()
      } catch (error) {
        for (const { reject } of [...batch, ...queue.waiting.splice(0)]) reject(error)
      }
    }
    queue.running = undefined
  }
}
