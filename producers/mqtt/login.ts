import type { Client, ConnectPacket } from 'aedes'
import { messageOf, type Fault } from '../../schemas/fault.ts'
import { isId } from '../../projections/scales/keys.ts'
import { tooSlow, type Commands } from '../commands.ts'
import { deadlineAfter } from '../deadline.ts'
import { createAuthentication, utcDay, type Access, type Admitted, type Answering } from '../http/auth.ts'
import { Problem } from '../http/problem.ts'
import { createUsage } from '../http/usage.ts'
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

/** Who may come in: the device itself, by its name, its token and a last will of its own. */
export const createLogin = ({ domain, access, commands, questions, clock, logger, readMs = READ_MS }: LoginParts, refuse: Refuse) => {
  const authenticate = createAuthentication({ domain, access, questions, quota: { reads: null, writes: null } })
  const usage = createUsage({ access, commands, sample: null, source: 'mqtt', failed: (error) => logger.warn({}, `usage was not recorded: ${messageOf(error)}`) })
  const packets = new WeakMap<Client, ConnectPacket>()
  const guessing = createGuessing(clock.now)
  /** With which each device came in last. */
  const tokens = new Map<string, string>()

  const admitted = async (device: string, token: string): Promise<Admitted> => {
    const now = clock.now()
    const caller = await authenticate(`Bearer ${token}`, { scope: 'write', or: 'device', now })
    if (caller.user !== device || !caller.scopes.includes('device')) throw new Problem(401, 'token-unknown', `The token is not one of the device ${device}.`)
    usage.record({ caller, kind: 'write', id: device, now, day: utcDay(now) })
    return caller
  }
  return {
    /** False where the address has guessed too often, without a look at any store. */
    announced(client: Client, packet: ConnectPacket): boolean {
      packets.set(client, packet)
      return !guessing.tooFast(client)
    },
    async enter(client: Client, username: string | undefined, password: Buffer | undefined): Promise<void> {
      const deadline = deadlineAfter(readMs)
      const device = username ?? ''
      if (!isId(device) || client.id !== device) throw refuse(client, 'client-id', 'the client id and the user name must both be the device id.')
      const token = password?.toString('utf8') ?? ''
      const { reader } = await deadline.within(admitted(device, token), tooSlow).catch((error: unknown) => {
        if (error instanceof Problem) {
          guessing.failed(client)
          refuse(client, 'token', error.message)
        }
        throw error
      })
      const will = packets.get(client)?.will
      const topic = will && topicOf(will.topic)
      const holder = will && (await deadline.within(readHolder(reader, device), tooSlow))
      if (will && (topic?.device !== device || topic.kind !== 'status' || (holder !== undefined && holder.loc !== topic.loc))) {
        throw refuse(client, 'will', `the last will must be to scale-sense/<its location>/${device}/status.`)
      }
      tokens.set(device, token)
    },
    /** The token is still one, and still the device's. */
    confirm: async (device: string): Promise<void> => void (await admitted(device, tokens.get(device) ?? '')),
    settled: () => usage.settled(),
  }
}

const GUESSES: Rate = { perSecond: 5, burst: 50 }
const ADDRESSES = 10_000

/** Logins that fail, by the address they come from. */
const createGuessing = (now: () => number) => {
  const paid = new Map<string, number>()
  const of = ({ conn }: Client): string => ('remoteAddress' in conn ? (conn.remoteAddress ?? '') : '')
  return {
    tooFast: (client: Client): boolean => (paid.get(of(client)) ?? 0) > now(),
    failed(client: Client): void {
      if (paid.size >= ADDRESSES) paid.clear()
      paid.set(of(client), paidUntil(paid.get(of(client)) ?? 0, { count: 1, now: now() }, GUESSES))
    },
  }
}
