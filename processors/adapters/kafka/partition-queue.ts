import type { Message } from 'kafkajs'
import type { Clock } from '../../engine/ports/clock.ts'
import { isFault } from '../../../schemas/fault.ts'
import { appendUnknown, tooLarge, unavailable } from './faults.ts'
import { backoff, type Timing } from './options.ts'
import type { Writer } from './writer.ts'

/** Records of one append with the same key: all of them, or a part if there are many. One request writes all records of a parcel. */
export interface Parcel {
  readonly key: string
  readonly messages: readonly Message[]
  readonly bytes: number
  readonly deadline: number
  /** True if the parcel must not be written any more: its append has failed, and no request contained the parcel yet. */
  isAbandoned(): boolean
  /** `isSent` is true right before the client gets a request with this parcel. It is false after a request that certainly wrote nothing. */
  setSent(isSent: boolean): void
  written(offset: number): void
  failed(error: Error): void
}

/**
 * The records that wait to be written to one partition, in order per key. The next request contains all of them that fit, and one request is
 * open at a time. A request takes one parcel of each key in turn, so a key with many records delays another key by at most one request.
 */
export interface PartitionQueue {
  push(parcel: Parcel): void
  /** Resolves when no parcel waits and no request is open. */
  drained(): Promise<void>
}

export interface PartitionQueuePlan {
  topic: string
  writer: Writer
  clock: Clock
  timing: Timing
  maxBytes: number
  closing: AbortSignal
}

const MAX_RECORDS = 2_000
/** The maximum number of retries while the broker rejects the producer's sequence number. Each retry uses a new producer. */
const MAX_STUCK_ATTEMPTS = 3

export function createPartitionQueue(plan: PartitionQueuePlan): PartitionQueue {
  const waiting = new Map<string, Parcel[]>()
  let running: Promise<void> | undefined
  const run = async (): Promise<void> => {
    while (waiting.size > 0) {
      const parcels = takeParcels(waiting, plan)
      if (parcels.length > 0) await deliver(parcels, plan)
    }
    running = undefined
  }
  return {
    push(parcel) {
      const queue = waiting.get(parcel.key)
      if (queue) queue.push(parcel)
      else waiting.set(parcel.key, [parcel])
      // The start is delayed by a microtask, so that parcels that are pushed together are written by the same request.
      running ??= Promise.resolve().then(run)
    },
    drained: async () => {
      await running
    },
  }
}

/** Takes one parcel of each key in turn, until the request is full or no parcel waits. Fails the parcels whose time is over. */
function takeParcels(waiting: Map<string, Parcel[]>, { maxBytes, clock, closing }: PartitionQueuePlan): Parcel[] {
  const parcels: Parcel[] = []
  let bytes = 0
  let records = 0
  for (;;) {
    const [key, queue] = waiting.entries().next().value ?? []
    const parcel = queue?.[0]
    if (key === undefined || queue === undefined || parcel === undefined) return parcels
    const isExpired = parcel.isAbandoned() || closing.aborted || clock.now() >= parcel.deadline
    if (
      !isExpired &&
      parcels.length > 0 &&
      (bytes + parcel.bytes > maxBytes || records + parcel.messages.length > MAX_RECORDS)
    )
      return parcels
    queue.shift()
    // A key with more parcels moves to the end of the map, so that the other keys are next.
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
 * Sends parcels to Kafka (a parcel is the records of one call of append), and retries until their earliest deadline. If the append of a parcel has
 * failed and no request contained the parcel yet, it is not sent. If it is unknown whether Kafka stored a request, this Kafka producer only sends the
 * same records again, because Kafka then recognises duplicates. Other records need a new Kafka producer.
 */
async function deliver(all: readonly Parcel[], plan: PartitionQueuePlan): Promise<void> {
  const { topic, writer, clock, timing, maxBytes, closing } = plan
  let parcels = all
  const deadline = Math.min(...parcels.map((parcel) => parcel.deadline))
  const fail = (error: Error): void => parcels.forEach((parcel) => parcel.failed(error))
  let uncertain: unknown
  for (let attempt = 0; ; attempt++) {
    if (uncertain === undefined) parcels = parcels.filter(isWantedOrFailed)
    if (parcels.length === 0) return
    const outcome = await writer.write(
      parcels.flatMap((parcel) => parcel.messages),
      () => release(parcels),
    )
    // The broker may have written the records of an earlier request, so the outcome is unknown.
    if (uncertain !== undefined && (outcome.kind === 'cancelled' || outcome.kind === 'stuck')) {
      writer.replace()
      return fail(appendUnknown(topic, uncertain))
    }
    if (outcome.kind === 'cancelled') continue
    if (outcome.kind === 'written') return acknowledge(parcels, outcome.offset)
    if (outcome.kind === 'unknown') uncertain = outcome.error
    if (uncertain === undefined) {
      for (const parcel of parcels) parcel.setSent(false)
      if (outcome.kind === 'too-large')
        return parcels.length === 1
          ? fail(tooLarge(topic, parcels[0]?.bytes ?? 0, maxBytes))
          : deliverSingly(parcels, plan)
      if (isFault(outcome.error) && !outcome.error.retriable) return fail(outcome.error)
      if (outcome.kind === 'stuck' || attempt > 0) writer.replace()
    }
    const isStuck = outcome.kind === 'stuck' && attempt >= MAX_STUCK_ATTEMPTS
    if (clock.now() >= deadline || closing.aborted || isStuck) {
      writer.replace()
      return fail(
        uncertain === undefined
          ? unavailable(`Nothing was written to ${topic}`, outcome.error)
          : appendUnknown(topic, uncertain),
      )
    }
    if (outcome.kind !== 'stuck')
      await clock.sleep(Math.min(backoff(timing, attempt), 1_000, Math.max(1, deadline - clock.now())), closing)
  }
}

/**
 * Runs right before the client gets a request. Returns false if one of the parcels must not be written any more. The caller then builds a new
 * request.
 */
function release(parcels: readonly Parcel[]): boolean {
  if (parcels.some((parcel) => parcel.isAbandoned())) return false
  for (const parcel of parcels) parcel.setSent(true)
  return true
}

/** True if the parcel must still be written. Otherwise fails the parcel, which no request contained yet, and returns false. */
function isWantedOrFailed(parcel: Parcel): boolean {
  if (!parcel.isAbandoned()) return true
  parcel.failed(waitedTooLong())
  return false
}

const waitedTooLong = (): Error =>
  unavailable('The record waited too long to be written', new Error('the records before it were not written either'))

async function deliverSingly(parcels: readonly Parcel[], plan: PartitionQueuePlan): Promise<void> {
  for (const parcel of parcels) await deliver([parcel], plan)
}

function acknowledge(parcels: readonly Parcel[], first: number): void {
  let offset = first
  for (const parcel of parcels) {
    parcel.written(offset)
    offset += parcel.messages.length
  }
}
