import { Fault, isFault } from '../schemas/fault.ts'
import { recordsOf, networkDelay, type PartitionAssignment, type Member } from './group-state.ts'
import type { Random } from './random.ts'
import type { Scheduler } from './scheduler.ts'

/** Delivers the records of an assigned partition to its member, batch by batch. */
export interface Delivery {
  /** Requests the offset at which the member continues, and delivers from there. */
  begin(assignment: PartitionAssignment): void
  /** Delivers the next batch soon. */
  fetch(assignment: PartitionAssignment): void
}

export interface DeliveryParts {
  readonly scheduler: Scheduler
  readonly random: Random
  /** Maximum number of records per batch. */
  readonly batch: number
  /** Called when a member has ended a batch. */
  readonly ended: (member: Member) => void
}

const RETRY_MS = 100

export const createDelivery = ({ scheduler, random, batch: maxBatch, ended }: DeliveryParts): Delivery => {
  const begin = (assignment: PartitionAssignment): void => {
    const { member, partition } = assignment
    const earlier = member.assignments.find(
      (other) => other !== assignment && other.partition === partition && other.isBusy,
    )
    if (assignment.isRevoked || member.onLeft) return
    // A member has only one batch of a partition under way at a time. So the new assignment waits for the batch of the earlier assignment.
    if (earlier) return scheduler.later(networkDelay(random), () => begin(assignment), member.process)
    const low = member.group.topic.lows[partition] ?? 0
    const failed = (error: unknown) => {
      if (member.process.state === 'dead' || assignment.isRevoked) return
      member.subscriber.failed(error)
      if (!isFault(error) || error.retriable) scheduler.later(RETRY_MS, () => begin(assignment), member.process)
    }
    member.subscriber.assigned({ partition, low, high: recordsOf(assignment).length }).then((offset) => {
      if (offset < low)
        return failed(new Fault('log-trimmed', `The simulated partition ${partition} begins after ${offset}.`))
      if (offset > recordsOf(assignment).length)
        return failed(new Fault('log-truncated', `The simulated partition ${partition} ends before ${offset}.`))
      assignment.startOffset = offset
      assignment.nextOffset = offset
      fetch(assignment)
    }, failed)
  }

  const fetch = (assignment: PartitionAssignment) => {
    assignment.isIdle = false
    scheduler.later(networkDelay(random), () => deliver(assignment), assignment.member.process)
  }

  const deliver = (assignment: PartitionAssignment): void => {
    const { member, partition } = assignment
    if (assignment.isRevoked || assignment.isBusy || member.onLeft) return
    const records = recordsOf(assignment).slice(
      assignment.nextOffset,
      assignment.nextOffset + random.between(1, maxBatch),
    )
    const last = records.at(-1)
    if (last === undefined) {
      assignment.isIdle = true
      return
    }
    assignment.isBusy = true
    scheduler.note(`${member.process.name} gets ${partition}:${assignment.nextOffset}-${last.offset}`)
    const over = (then: () => void) => {
      assignment.isBusy = false
      if (member.process.state === 'dead') return
      then()
      ended(member)
    }
    const done = () =>
      over(() => {
        assignment.nextOffset = Math.max(assignment.nextOffset, last.offset + 1)
        fetch(assignment)
      })
    const failed = (error: unknown) =>
      over(() => {
        member.subscriber.failed(error)
        if (isFault(error, 'checkpoint-moved')) scheduler.later(RETRY_MS, () => begin(assignment), member.process)
        else if (!isFault(error) || error.retriable)
          scheduler.later(RETRY_MS, () => deliver(assignment), member.process)
      })
    member.subscriber.batch(records, { partition, isCurrent: () => !assignment.isRevoked }).then(done, failed)
  }

  return { begin, fetch }
}
