import type { Consumer } from 'kafkajs'
import type { Clock } from '../../engine/clock.ts'
import { hasType } from './faults.ts'

/** Whether we are still a member of the group, as far as can be known here. */
export interface Membership {
  /** False as soon as the coordinator may have given our partitions to others. */
  alive(): boolean
  /** A heartbeat or a commit failed: perhaps because we are out. */
  failed(error: unknown): void
  /** When any broker last answered. */
  heardAt(): number
}

const JOIN_GROUP = 11
const HEARTBEAT = 12
const SYNC_GROUP = 14
const OUT = ['UNKNOWN_MEMBER_ID', 'ILLEGAL_GENERATION', 'FENCED_INSTANCE_ID']

/**
 * The session counts from when a heartbeat was sent, not from when its answer was read: a process that stood still in
 * between would think itself alive. `lost` is called before the client can act under its next generation.
 */
export function watchMembership(consumer: Consumer, { clock, session, lost }: { clock: Clock; session: number; lost(): void }): Membership {
  let heard = clock.now()
  let aliveSince = 0
  let sent = 0
  consumer.on(consumer.events.REQUEST, ({ payload: { apiKey, sentAt } }) => {
    heard = clock.now()
    if (apiKey === HEARTBEAT || apiKey === SYNC_GROUP) sent = sentAt
    if (apiKey === JOIN_GROUP) lost()
  })
  consumer.on(consumer.events.HEARTBEAT, () => { aliveSince = sent })
  consumer.on(consumer.events.GROUP_JOIN, () => { aliveSince = sent })
  return {
    alive: () => clock.now() - aliveSince < session,
    failed(error) {
      if (!hasType(error, OUT)) return
      aliveSince = 0
      lost()
    },
    heardAt: () => heard,
  }
}
