import { Fault } from '../../schemas/fault.ts'
import { paidUntil, type Rate } from './pace.ts'
import type { Message, Take } from './taking.ts'

export interface LaneParts {
  readonly take: Take
  readonly clock: { now(): number; sleep(ms: number): Promise<void> }
  /** Messages a device may send. */
  readonly rate?: Rate
  readonly delayed?: () => void
}

/** Each device has a lane: its messages are taken in order, many in one append, and no faster than its rate. */
export interface Lanes {
  /** Resolves when the log has it. */
  take(message: Message): Promise<void>
  /** Takes no more, and waits for what is under way. */
  stop(): Promise<void>
}

interface Waiting {
  readonly message: Message
  resolve(): void
  reject(error: unknown): void
}

interface Lane {
  waiting: Waiting[]
  busy: Promise<void> | undefined
  paidUntil: number
}

const RATE: Rate = { perSecond: 100, burst: 500 }
/** Messages of one append. */
const BATCH = 64
const MOST_LANES = 10_000

export const createLanes = ({ take, clock, rate = RATE, delayed }: LaneParts): Lanes => {
  const lanes = new Map<string, Lane>()
  let stopping = false

  const laneOf = (device: string): Lane => {
    const known = lanes.get(device)
    if (known !== undefined) return known
    if (lanes.size >= MOST_LANES) for (const [name, idle] of lanes) if (idle.busy === undefined && idle.paidUntil <= clock.now()) lanes.delete(name)
    const lane: Lane = { waiting: [], busy: undefined, paidUntil: 0 }
    lanes.set(device, lane)
    return lane
  }
  const pace = async (lane: Lane, count: number): Promise<void> => {
    const now = clock.now()
    lane.paidUntil = paidUntil(lane.paidUntil, { count, now }, rate)
    if (lane.paidUntil <= now) return
    delayed?.()
    await clock.sleep(lane.paidUntil - now)
  }
  const run = async (lane: Lane, device: string): Promise<void> => {
    // Whatever comes in the same turn goes in the same append.
    await Promise.resolve()
    while (lane.waiting.length > 0) {
      const batch = lane.waiting.splice(0, BATCH)
      try {
        await pace(lane, batch.length)
        await take(device, batch.map(({ message }) => message))
        for (const { resolve } of batch) resolve()
      } catch (error) {
        for (const { reject } of [...batch, ...lane.waiting.splice(0)]) reject(error)
      }
    }
    lane.busy = undefined
  }
  return {
    take: (message) =>
      new Promise((resolve, reject) => {
        if (stopping) {
          reject(new Fault('log-unavailable', 'This process is stopping and takes no more messages. Send it again.', { retriable: true }))
          return
        }
        const lane = laneOf(message.device)
        lane.waiting.push({ message, resolve, reject })
        lane.busy ??= run(lane, message.device)
      }),
    async stop() {
      stopping = true
      for (const { busy } of lanes.values()) await busy
    },
  }
}
