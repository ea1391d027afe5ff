import type { Client, ConnectPacket } from 'aedes'
import { messageOf, type Fault } from '../../schemas/fault.ts'
import type { Reader } from '../../projections/table.ts'
import { tooSlow } from '../commands.ts'
import { deadlineAfter } from '../deadline.ts'
import { createAuthentication, sameHash, utcDay, type AuthenticatedCaller } from '../http/auth.ts'
import { Problem } from '../http/problem.ts'
import { createUsage } from '../http/usage.ts'
import { domainOfToken, hashToken } from '../access/pat.ts'
import { createFailedLogins } from './failed-logins.ts'
import { findTopic, topicsText, type DeviceDomain } from './spec.ts'

export interface Logger {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

/** Counts and logs a refusal, and returns the fault that ends the connection. */
export type Refuse = (client: Client, reason: string, detail: string) => Fault

export interface LoginParts {
  /** At least one domain. The token of a device selects the domain of the device. */
  readonly domains: readonly DeviceDomain[]
  readonly clock: { now(): number }
  readonly logger: Logger
  /** The maximum time for the reads of a login. Default: 5 s. */
  readonly readMs?: number
}

const READ_MS = 5_000

/** The latest login of a device. */
interface LatestLogin {
  readonly domain: DeviceDomain
  readonly token: string
  /** The time at which the token was last read and found valid, in epoch milliseconds. */
  readonly verifiedAt: number
}

type Will = NonNullable<ConnectPacket['will']>

/** A last will is a status with a few fields. It is limited, because the broker keeps the last will of every connection in memory. */
const MOST_WILL_BYTES = 4 * 1024

/** Checks the id, the token and the last will of devices that connect. */
export const createLogin = ({ domains, clock, logger, readMs = READ_MS }: LoginParts, refuse: Refuse) => {
  const accounts = createAccounts({ domains, clock, logger })
  const packets = new WeakMap<Client, ConnectPacket>()
  const failures = createFailedLogins(clock.now)
  const logins = new Map<string, LatestLogin>()

  return {
    /** False if too many logins failed under this name, except for the token of the device's latest login. Reads no store. */
    mayTry(client: Client, packet: ConnectPacket): boolean {
      packets.set(client, packet)
      const name = packet.username ?? ''
      return !failures.isTooFast(name) || isSameToken(logins.get(name)?.token, packet.password)
    },
    /** Throws if the device must not connect. */
    async login(client: Client, username: string | undefined, password: Buffer | undefined): Promise<void> {
      const deadline = deadlineAfter(readMs)
      const device = username ?? ''
      const token = password?.toString('utf8') ?? ''
      const domain = accounts.domainOf(token)
      checkId(client, { domain, device, earlier: logins.get(device)?.domain }, refuse)
      const caller = accounts.authenticate(domain, device, token)
      const { reader } = await deadline.within(caller, tooSlow).catch((error: unknown) => {
        if (error instanceof Problem) {
          failures.add(device)
          refuse(client, 'token', error.message)
        }
        throw error
      })
      const will = packets.get(client)?.will
      packets.delete(client)
      if (will !== undefined) await deadline.within(checkWill(client, will, { domain, reader, refuse }), tooSlow)
      logins.set(device, { domain, token, verifiedAt: clock.now() })
    },
    /** Reads the device's token again. Throws a Problem if the token has ended. */
    async verify(device: string): Promise<void> {
      const { domain, token } = logins.get(device) ?? { domain: accounts.domainOf(''), token: '' }
      await accounts.authenticate(domain, device, token)
      // The device may have logged in with another token in the meantime.
      if (logins.get(device)?.token === token) logins.set(device, { domain, token, verifiedAt: clock.now() })
    },
    verifiedAt: (device: string): number => logins.get(device)?.verifiedAt ?? 0,
    /** The domain of the device's latest login. Undefined if there was none. */
    domainOf: (device: string): DeviceDomain | undefined => logins.get(device)?.domain,
    /** Waits until the use of tokens is recorded. */
    settled: () => accounts.settled(),
  }
}

export type Login = ReturnType<typeof createLogin>

interface IdParts {
  readonly domain: DeviceDomain
  readonly device: string
  /** The domain of the device's latest login. */
  readonly earlier: DeviceDomain | undefined
}

const checkId = (client: Client, { domain, device, earlier = domain }: IdParts, refuse: Refuse): void => {
  if (!domain.devices.isId(device) || client.id !== device)
    throw refuse(client, 'client-id', 'the client id and the user name must both be the device id.')
  if (earlier !== domain)
    throw refuse(client, 'client-id', `the id ${device} is in use by a device of the domain ${earlier.name}.`)
}

interface WillParts {
  readonly domain: DeviceDomain
  readonly reader: Reader
  readonly refuse: Refuse
}

const checkWill = async (client: Client, will: Will, { domain, reader, refuse }: WillParts): Promise<void> => {
  const { devices } = domain
  const topic = findTopic([domain], will.topic)
  const owner = await devices.readOwner(reader, client.id)
  const isOwn =
    topic?.device === client.id &&
    topic.kind === devices.statusKind &&
    (owner === undefined || owner.id === topic.ownerId)
  if (!isOwn)
    throw refuse(
      client,
      'will',
      `the topic of the last will must be ${topicsText(devices, client.id)}${devices.statusKind}.`,
    )
  if (will.payload.length > MOST_WILL_BYTES)
    throw refuse(client, 'will', `the last will has more than ${MOST_WILL_BYTES} bytes.`)
  // Copies the payload: the received payload is a view that keeps the whole chunk of the socket in memory.
  will.payload = Buffer.from(will.payload)
}

/** Reads the tokens of devices, and records their use. */
const createAccounts = ({ domains, clock, logger }: Pick<LoginParts, 'domains' | 'clock' | 'logger'>) => {
  const accounts = domains.map((domain) => ({
    domain,
    authentication: createAuthentication({
      domain: domain.name,
      access: domain.access,
      serving: domain.serving,
      quota: { reads: null, writes: null },
    }),
    usage: createUsage({
      access: domain.access,
      commands: domain.commands,
      sample: null,
      source: 'mqtt',
      failed: (error) => logger.warn({}, `usage was not recorded: ${messageOf(error)}`),
    }),
  }))
  const accountOf = (name: string | undefined): (typeof accounts)[number] => {
    const account = accounts.find(({ domain }) => domain.name === name) ?? accounts[0]
    if (account === undefined) throw new TypeError('The broker serves no domain')
    return account
  }
  return {
    /** The domain that the prefix of the token names. If there is no such domain, returns the first domain, which then refuses the token. */
    domainOf: (token: string): DeviceDomain => accountOf(domainOfToken(token)).domain,
    /** Throws a Problem if the token is not a valid token of the device. */
    async authenticate(domain: DeviceDomain, device: string, token: string): Promise<AuthenticatedCaller> {
      const { authentication, usage } = accountOf(domain.name)
      const now = clock.now()
      const caller = await authentication.ofToken(`Bearer ${token}`, { kind: 'write', or: 'device', now })
      if (caller.user !== device || !caller.scopes.includes('device'))
        throw new Problem(401, 'token-unknown', `The token is not one of the device ${device}.`)
      usage.record({ caller, kind: 'write', id: device, now, day: utcDay(now) })
      return caller
    },
    settled: async (): Promise<void> => {
      await Promise.all(accounts.map(({ usage }) => usage.settled()))
    },
  }
}

/** Compares hashes, so that the duration of the comparison reveals nothing about the token. */
const isSameToken = (known: string | undefined, presented: Buffer | undefined): boolean =>
  known !== undefined && presented !== undefined && sameHash(hashToken(known), hashToken(presented.toString('utf8')))
