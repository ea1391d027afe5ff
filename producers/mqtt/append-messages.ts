import type { Reader } from '../../projections/table.ts'
import type { AppendedEvent } from '../commands.ts'
import type { DropCause, SessionTotals } from './sessions.ts'
import type { DeviceDomain, DeviceMessage, DeviceOwner } from './spec.ts'

/** The counts and states that the broker and the client report to the metrics. */
export interface DeviceReport {
  appended(event: AppendedEvent): void
  /** Called for each message when the log has its events. `kind`: the last level of its topic. */
  message(kind: string): void
  quarantined(reason: string): void
  refused(reason: string): void
  /** A device waits because it exceeded its rate. */
  delayed(): void
  connections(count: number): void
  /** The broker dropped a message or a session that it stored for a device. */
  dropped(cause: DropCause): void
  /** The sessions and messages that the broker stores for devices now. */
  stored(totals: SessionTotals): void
}

export interface AppendParts {
  readonly domain: Pick<DeviceDomain, 'name' | 'commands' | 'devices'>
  /** Reads the owner of the device. Called before each append. If it throws, the messages are refused. */
  readonly ownerOf: (device: string) => Promise<DeviceOwner | undefined>
  readonly clock: { now(): number }
  readonly report?: DeviceReport
  /** Called with each message before the append. If it throws, the messages are refused. */
  readonly check?: (message: DeviceMessage, owner: DeviceOwner | undefined) => void
}

/** Appends the events of messages of one device. Resolves when the log has all events. */
export type AppendMessages = (device: string, messages: readonly DeviceMessage[]) => Promise<void>

const SOURCE = 'mqtt'
/** Owners are cached for this time. An outdated owner does no harm: events contain the number of its claim, and the fold rejects ended claims. */
const CACHED_MS = 1_000
const MOST_CACHED = 10_000

/** Reads owners through a cache: each device's owner at most once per second. */
export const cachedOwners = (
  { devices }: Pick<DeviceDomain, 'devices'>,
  reader: () => Promise<Reader>,
  clock: AppendParts['clock'],
): AppendParts['ownerOf'] => {
  const cache = new Map<string, { readonly owner: DeviceOwner | undefined; readonly at: number }>()
  return async (device) => {
    const now = clock.now()
    const cached = cache.get(device)
    if (cached !== undefined && now - cached.at < CACHED_MS) return cached.owner
    const owner = await devices.readOwner(await reader(), device)
    if (cache.size >= MOST_CACHED) cache.clear()
    cache.set(device, { owner, at: now })
    return owner
  }
}

export const createAppendMessages =
  ({ domain: { name, commands, devices }, ownerOf, clock, report, check }: AppendParts): AppendMessages =>
  async (device, messages) => {
    const owner = await ownerOf(device)
    for (const message of messages) check?.(message, owner)
    const sender = { device, owner, source: SOURCE, received: clock.now() }
    const { events, quarantined } = devices.eventsOf(messages, sender)
    await commands.append(events)
    for (const { kind } of messages) report?.message(kind)
    for (const { meta, type } of events) report?.appended({ domain: name, source: meta.source, type })
    for (const reason of quarantined) report?.quarantined(reason)
  }
