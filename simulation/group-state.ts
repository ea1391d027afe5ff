import type { LogRecord, Subscriber } from '../processors/engine/ports/log.ts'
import type { Topic } from './log-model.ts'
import type { Process } from './process.ts'
import type { Random } from './random.ts'

export interface Group {
  readonly topic: Topic
  readonly name: string
  members: Member[]
  /** The current assignments in the view of the brokers, by partition. */
  readonly owners: Map<number, PartitionAssignment>
}

export interface Member {
  readonly group: Group
  readonly process: Process
  readonly subscriber: Subscriber
  assignments: PartitionAssignment[]
  /** Set while the member leaves. Called after the member has left. */
  onLeft: (() => void) | undefined
}

/** One assignment of one partition to one member. */
export interface PartitionAssignment {
  readonly member: Member
  readonly partition: number
  /** True if the member has received the revocation. The brokers can have revoked the partition earlier (`group.owners`). */
  isRevoked: boolean
  isBusy: boolean
  isIdle: boolean
  startOffset: number | undefined
  nextOffset: number
}

export const recordsOf = ({ member, partition }: PartitionAssignment): readonly LogRecord[] =>
  member.group.topic.partitions[partition] ?? []

/** Returns the time until a message between a broker and a member arrives, in milliseconds. */
export const networkDelay = (random: Random): number => random.next() * 20
