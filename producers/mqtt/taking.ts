import type { Event } from '../../schemas/event.ts'
import { messageOf } from '../../schemas/fault.ts'
import type { Reader } from '../../projections/table.ts'
import type { AppendedEvent, Commands } from '../commands.ts'
import { MOST_BY_MQTT } from '../scales/envelope.ts'
import { readHolder, type Holder } from '../scales/holder.ts'
import { takeEnvelope, takeStatus, takeUnreadable, type Sender, type Taken } from '../scales/intake.ts'
import { parsePayload } from '../scales/payload.ts'
import { spaced } from '../scales/spacing.ts'
import type { DropCause, Kept } from './sessions.ts'
import type { Kind, Topic } from './topic.ts'

/** What the way in tells whoever keeps metrics. */
export interface DeviceReport {
  appended(event: Omit<AppendedEvent, 'domain'>): void
  message(kind: Kind): void
  quarantined(reason: string): void
  refused(reason: string): void
  delayed(): void
  connections(count: number): void
  /** The broker dropped a message or a session that it kept for a device. */
  dropped(cause: DropCause): void
  /** The messages that the broker keeps for devices. */
  kept(kept: Kept): void
}

export interface Message extends Topic {
  readonly payload: Buffer
}

export interface TakingParts {
  readonly commands: Pick<Commands, 'append'>
  /** The location that holds the device. Called before each append; if it throws, the messages are refused. */
  readonly holderOf: (device: string) => Promise<Holder | undefined>
  readonly clock: { now(): number }
  readonly report?: DeviceReport
  /** Asked for each message; throwing refuses it. */
  readonly admit?: (message: Message, holder: Holder | undefined) => void
}

/** Resolves when the log has all events of the messages of one device. */
export type Take = (device: string, messages: readonly Message[]) => Promise<void>

const SOURCE = 'mqtt'
/** A claim that ended meanwhile does no harm: the events name its epoch, and the fold refuses another one. */
const KNOWN_MS = 1_000
const MOST_KNOWN = 10_000

/** Holders, each read at most once per second. */
export const rememberHolders = (reader: () => Promise<Reader>, { now: clockNow }: TakingParts['clock']): TakingParts['holderOf'] => {
  const known = new Map<string, { readonly holder: Holder | undefined; readonly at: number }>()
  return async (device) => {
    const now = clockNow()
    const found = known.get(device)
    if (found !== undefined && now - found.at < KNOWN_MS) return found.holder
    const holder = await readHolder(await reader(), device)
    if (known.size >= MOST_KNOWN) known.clear()
    known.set(device, { holder, at: now })
    return holder
  }
}

export const createTaking = ({ commands, holderOf, clock, report, admit }: TakingParts): Take =>
  async (device, messages) => {
    const holder = await holderOf(device)
    for (const message of messages) admit?.(message, holder)
    const received = clock.now()
    const taken = messages.map((message) => takeMessage(message, { device, holder, loc: message.loc, actor: device, source: SOURCE, correlationId: null, received }))
    const events = spaced(taken.flatMap((each) => each.events))
    await commands.append(events)
    if (report) tell(report, { messages, events, taken })
  }

const RAW_BYTES = 8_000

const takeMessage = ({ kind, payload }: Message, sender: Sender): Taken => {
  let value: unknown
  try {
    value = parsePayload(payload)
  } catch (error) {
    return takeUnreadable({ reason: 'malformed', detail: messageOf(error) }, payload.subarray(0, RAW_BYTES).toString('utf8'), sender)
  }
  return kind === 'status' ? takeStatus(value, sender) : takeEnvelope(value, sender, MOST_BY_MQTT)
}

const tell = (report: DeviceReport, { messages, events, taken }: { messages: readonly Message[]; events: readonly Event[]; taken: readonly Taken[] }): void => {
  for (const { kind } of messages) report.message(kind)
  for (const { meta, type } of events) report.appended({ source: meta.source, type })
  for (const { refused } of taken) for (const { reason } of refused) report.quarantined(reason)
}
