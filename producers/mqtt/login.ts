import type { Client, ConnectPacket } from 'aedes'
import { messageOf, type Fault } from '../../schemas/fault.ts'
import { isId } from '../../projections/scales/keys.ts'
import type { Reader } from '../../projections/table.ts'
import { tooSlow, type Commands } from '../commands.ts'
import { deadlineAfter } from '../deadline.ts'
import { createAuthentication, sameHash, utcDay, type Access, type Admitted, type Answering } from '../http/auth.ts'
import { Problem } from '../http/problem.ts'
import { createUsage } from '../http/usage.ts'
import { hashToken } from '../pat.ts'
import { readHolder } from '../scales/holder.ts'
import { paidUntil, type Rate } from './pace.ts'
import { topicOf } from './topic.ts'

export interface Says {
  info(about: object, message: string): void
  warn(about: object, message: string): void
}

/** Counted and logged; the fault ends the connection. */
export type Refuse = (client: Client, reason: string, detail: string) => Fault

export interface LoginParts {
  readonly domain: string
  readonly access: Access
  readonly commands: Commands
  readonly questions: () => Promise<Answering>
  readonly clock: { now(): number }
  readonly logger: Says
  /** How long a login may take to read what it needs. Default: 5 s. */
  readonly readMs?: number
}

const READ_MS = 5_000

/** The state that one login leaves for its connection. */
interface Entered {
  readonly token: string
  /** When the token was last read and found valid, in epoch milliseconds. */
  readonly confirmedAt: number
}

type Will = NonNullable<ConnectPacket['will']>

/** A status has a few fields. The broker keeps the last will of every connection in memory. */
const MOST_WILL_BYTES = 4 * 1024

/** Admits a device by its name, its token and a last will of its own. */
export const createLogin = ({ domain, access, commands, questions, clock, logger, readMs = READ_MS }: LoginParts, refuse: Refuse) => {
  const authenticate = createAuthentication({ domain, access, questions, quota: { reads: null, writes: null } })
  const usage = createUsage({ access, commands, sample: null, source: 'mqtt', failed: (error) => logger.warn({}, `usage was not recorded: ${messageOf(error)}`) })
  const packets = new WeakMap<Client, ConnectPacket>()
  const guessing = createGuessing(clock.now)
  /** The latest login of each device. */
  const entered = new Map<string, Entered>()

  const admitted = async (device: string, token: string): Promise<Admitted> => {
    const now = clock.now()
    const caller = await authenticate(`Bearer ${token}`, { scope: 'write', or: 'device', now })
    if (caller.user !== device || !caller.scopes.includes('device')) throw new Problem(401, 'token-unknown', `The token is not one of the device ${device}.`)
    usage.record({ caller, kind: 'write', id: device, now, day: utcDay(now) })
    return caller
  }
  const demandWill = async (client: Client, will: Will, { device, reader }: { device: string; reader: Reader }): Promise<void> => {
    const topic = topicOf(will.topic)
    const holder = await readHolder(reader, device)
    if (topic?.device !== device || topic.kind !== 'status' || (holder !== undefined && holder.loc !== topic.loc)) {
      throw refuse(client, 'will', `the last will must be to scale-sense/<its location>/${device}/status.`)
    }
    if (will.payload.length > MOST_WILL_BYTES) throw refuse(client, 'will', `the last will has more than ${MOST_WILL_BYTES} bytes.`)
    // As received, the payload is a view that keeps the whole chunk of the socket in memory.
    will.payload = Buffer.from(will.payload)
  }
  return {
    /** False if too many logins failed under this name. Reads no store. A device that returns with the token of its latest login is let through. */
    announced(client: Client, packet: ConnectPacket): boolean {
      packets.set(client, packet)
      const name = packet.username ?? ''
      return !guessing.isTooFast(name) || isSameToken(entered.get(name)?.token, packet.password)
    },
    async enter(client: Client, username: string | undefined, password: Buffer | undefined): Promise<void> {
      const deadline = deadlineAfter(readMs)
      const device = username ?? ''
      if (!isId(device) || client.id !== device) throw refuse(client, 'client-id', 'the client id and the user name must both be the device id.')
      const token = password?.toString('utf8') ?? ''
      const { reader } = await deadline.within(admitted(device, token), tooSlow).catch((error: unknown) => {
        if (error instanceof Problem) {
          guessing.failed(device)
          refuse(client, 'token', error.message)
        }
        throw error
      })
      const will = packets.get(client)?.will
      packets.delete(client)
      if (will !== undefined) await deadline.within(demandWill(client, will, { device, reader }), tooSlow)
      entered.set(device, { token, confirmedAt: clock.now() })
    },
    /** Reads the token again. Throws a Problem if it is no longer the device's. */
    async confirm(device: string): Promise<void> {
      const { token } = entered.get(device) ?? { token: '' }
      await admitted(device, token)
      // The device may have come in with another token meanwhile.
      if (entered.get(device)?.token === token) entered.set(device, { token, confirmedAt: clock.now() })
    },
    confirmedAt: (device: string): number => entered.get(device)?.confirmedAt ?? 0,
    settled: () => usage.settled(),
  }
}

export type Login = ReturnType<typeof createLogin>

/** Compares hashes, so that the time it takes tells nothing about the token. */
const isSameToken = (known: string | undefined, presented: Buffer | undefined): boolean =>
  known !== undefined && presented !== undefined && sameHash(hashToken(known), hashToken(presented.toString('utf8')))

const GUESSES: Rate = { perSecond: 5, burst: 50 }
const MOST_NAMES = 10_000

/** Counts failed logins per login name. Behind a proxy all devices have one address, so addresses are not counted. */
export const createGuessing = (now: () => number, most = MOST_NAMES) => {
  /** Until when the failures of each name are paid for. The name whose latest failure is the oldest comes first. */
  const names = new Map<string, number>()
  return {
    isTooFast: (name: string): boolean => (names.get(name) ?? 0) > now(),
    failed(name: string): void {
      const until = paidUntil(names.get(name) ?? 0, { count: 1, now: now() }, GUESSES)
      names.delete(name)
      for (const oldest of names.keys()) {
        if (names.size < most) break
        names.delete(oldest)
      }
      names.set(name, until)
    },
    size: (): number => names.size,
  }
}
