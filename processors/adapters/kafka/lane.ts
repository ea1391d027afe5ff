import type { Message } from 'kafkajs'
import type { Clock } from '../../engine/clock.ts'
import { isFault } from '../../../schemas/fault.ts'
import { appendUnknown, tooLarge, unavailable } from './faults.ts'
import { backoff, type Timing } from './options.ts'
import type { Writer } from './writer.ts'

/** Records of one append that have one key, or a part of them; they are written together. */
export interface Parcel {
  readonly key: string
  readonly messages: readonly Message[]
  readonly bytes: number
  readonly deadline: number
  /** True once its append has failed: a parcel that no request contained yet must not be written any more. */
  abandoned(): boolean
  /** True: a request that contains it goes to the client now. False: that request is known to have written nothing. */
  sent(is: boolean): void
  written(offset: number): void
  failed(error: Error): void
}

/**
 * One partition's records, in order per key. The records that wait go together in the next request, and one request is under way at a time.
 * The keys take turns, parcel by parcel, so that a key with many records does not delay another key by more than one request.
 */
export interface Lane {
  push(parcel: Parcel): void
  /** Resolves when nothing waits and nothing is under way. */
  drained(): Promise<void>
}

export interface LanePlan { topic: string; writer: Writer; clock: Clock; timing: Timing; maxBytes: number; closing: AbortSignal }

const MAX_RECORDS = 2_000
const STUCK_TRIES = 3

export function createLane(plan: LanePlan): Lane {
  const waiting = new Map<string, Parcel[]>()
  let running: Promise<void> | undefined
  const run = async (): Promise<void> => {
    while (waiting.size > 0) {
      const parcels = take(waiting, plan)
      if (parcels.length > 0) await deliver(parcels, plan)
    }
    running = undefined
  }
  return {
    push(parcel) {
      const queue = waiting.get(parcel.key)
      if (queue) queue.push(parcel)
      else waiting.set(parcel.key, [parcel])
      // What is pushed in the same turn goes into the same request.
      running ??= Promise.resolve().then(run)
    },
    drained: async () => { await running },
  }
}

/** Takes one parcel of each key in turn, until the request is full or nothing waits. */
function take(waiting: Map<string, Parcel[]>, { maxBytes, clock, closing }: LanePlan): Parcel[] {
  const parcels: Parcel[] = []
  let bytes = 0
  let records = 0
  for (;;) {
    const [key, queue] = waiting.entries().next().value ?? []
    const parcel = queue?.[0]
    if (key === undefined || queue === undefined || parcel === undefined) return parcels
    const isExpired = parcel.abandoned() || closing.aborted || clock.now() >= parcel.deadline
    if (!isExpired && parcels.length > 0 && (bytes + parcel.bytes > maxBytes || records + parcel.messages.length > MAX_RECORDS)) return parcels
    queue.shift()
    // A key that has more goes to the end.
    waiting.delete(key)
    if (queue.length > 0) waiting.set(key, queue)
    if (isExpired) {
      parcel.failed(waitedTooLong())
      continue
    }
    parcels.push(parcel)
    bytes += parcel.bytes
    records += parcel.messages.length
  }
}

/**
 * Tries until the earliest deadline of the parcels, and never sends other records after an unknown outcome without a new producer.
 * A parcel whose append fails before the first request contains it is left out.
 */
async function deliver(all: readonly Parcel[], plan: LanePlan): Promise<void> {
  const { topic, writer, clock, timing, maxBytes, closing } = plan
  let parcels = all
  const deadline = Math.min(...parcels.map((parcel) => parcel.deadline))
  const fail = (error: Error): void => parcels.forEach((parcel) => parcel.failed(error))
  let uncertain: unknown
  for (let attempt = 0; ; attempt++) {
    if (uncertain === undefined) parcels = parcels.filter(stillWanted)
    if (parcels.length === 0) return
    const outcome = await writer.write(parcels.flatMap((parcel) => parcel.messages), () => release(parcels))
    // A request that was sent before may have been written.
    if (uncertain !== undefined && (outcome.kind === 'held-back' || outcome.kind === 'stuck')) { writer.replace(); return fail(appendUnknown(topic, uncertain)) }
    if (outcome.kind === 'held-back') continue
    if (outcome.kind === 'written') return acknowledge(parcels, outcome.offset)
    if (outcome.kind === 'unknown') uncertain = outcome.error
    if (uncertain === undefined) {
      for (const parcel of parcels) parcel.sent(false)
      if (outcome.kind === 'too-large') return parcels.length === 1 ? fail(tooLarge(topic, parcels[0]?.bytes ?? 0, maxBytes)) : deliverSingly(parcels, plan)
      if (isFault(outcome.error) && !outcome.error.retriable) return fail(outcome.error)
      if (outcome.kind === 'stuck' || attempt > 0) writer.replace()
    }
    const over = clock.now() >= deadline || closing.aborted || (outcome.kind === 'stuck' && attempt >= STUCK_TRIES)
    if (over) {
      writer.replace()
      return fail(uncertain === undefined ? unavailable(`Nothing was written to ${topic}`, outcome.error) : appendUnknown(topic, uncertain))
    }
    if (outcome.kind !== 'stuck') await clock.sleep(Math.min(backoff(timing, attempt), 1_000, Math.max(1, deadline - clock.now())), closing)
  }
}

/** Just before a request goes to the client. False if a parcel of it must not be written any more: the request has to be made anew. */
function release(parcels: readonly Parcel[]): boolean {
  if (parcels.some((parcel) => parcel.abandoned())) return false
  for (const parcel of parcels) parcel.sent(true)
  return true
}

/** Fails an abandoned parcel that no request contained. */
function stillWanted(parcel: Parcel): boolean {
  if (!parcel.abandoned()) return true
  parcel.failed(waitedTooLong())
  return false
}

const waitedTooLong = (): Error => unavailable('The record waited too long to be written', new Error('the records before it were not written either'))

async function deliverSingly(parcels: readonly Parcel[], plan: LanePlan): Promise<void> {
  for (const parcel of parcels) await deliver([parcel], plan)
}

function acknowledge(parcels: readonly Parcel[], first: number): void {
  let offset = first
  for (const parcel of parcels) {
    parcel.written(offset)
    offset += parcel.messages.length
  }
}
