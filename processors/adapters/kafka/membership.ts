import type { Consumer } from 'kafkajs'
import type { Clock } from '../../engine/ports/clock.ts'
import { hasType } from './faults.ts'

/** The membership of this consumer in its group. */
export interface Membership {
  /** False as soon as the coordinator may have given this consumer's partitions to others. */
  isAlive(): boolean
  /** Handles the error of a heartbeat or a commit. Some errors end the membership. */
  failed(error: unknown): void
  /** The time of the last answer of any broker, epoch milliseconds. */
  lastAnswerAt(): number
}

const JOIN_GROUP = 11
const HEARTBEAT = 12
const SYNC_GROUP = 14
const MEMBERSHIP_ENDED = ['UNKNOWN_MEMBER_ID', 'ILLEGAL_GENERATION', 'FENCED_INSTANCE_ID']

/**
 * Watches if this consumer is still a member of its group. The coordinator removes a member that sends no heartbeat for `session` milliseconds. This
 * time counts from the sending of an answered heartbeat, because the process can be paused before it reads the answer. Calls `lost` as soon as the
 * client joins the group again, which is before the client gets other partitions.
 */
export function watchMembership(
  consumer: Consumer,
  { clock, session, lost }: { clock: Clock; session: number; lost(): void },
): Membership {
  let lastAnswerAt = clock.now()
  let aliveSince = 0
  let sent = 0
  consumer.on(consumer.events.REQUEST, ({ payload: { apiKey, sentAt } }) => {
    lastAnswerAt = clock.now()
    if (apiKey === HEARTBEAT || apiKey === SYNC_GROUP) sent = sentAt
    if (apiKey === JOIN_GROUP) lost()
  })
  consumer.on(consumer.events.HEARTBEAT, () => {
    aliveSince = sent
  })
  consumer.on(consumer.events.GROUP_JOIN, () => {
    aliveSince = sent
  })
  return {
    isAlive: () => clock.now() - aliveSince < session,
    failed(error) {
      if (!hasType(error, MEMBERSHIP_ENDED)) return
      aliveSince = 0
      lost()
    },
    lastAnswerAt: () => lastAnswerAt,
  }
}
