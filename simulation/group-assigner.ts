import { networkDelay, type Group, type PartitionAssignment, type Member } from './group-state.ts'
import type { Random } from './random.ts'
import type { Scheduler } from './scheduler.ts'

/** Assigns the partitions of a group to its members. */
export interface Assigner {
  /** Assigns every partition to a member. If `eager`, also revokes and assigns anew the partitions that stay with their member. */
  assign(group: Group, eager: boolean): void
  /** Removes a member whose session has ended. The member joins again some time after its process runs again. */
  expel(member: Member): void
  /** Removes a member that is leaving (`onLeft` is set) and has no batch under way. Does nothing for any other member. */
  leave(member: Member): void
}

export interface AssignerParts {
  readonly scheduler: Scheduler
  readonly random: Random
  /** Called when a member has received a partition. */
  readonly begin: (assignment: PartitionAssignment) => void
}

export const createAssigner = (parts: AssignerParts): Assigner => {
  const { scheduler, random } = parts

  const assign = (group: Group, eager: boolean) => {
    const members = random.shuffled(group.members)
    if (members.length === 0) return
    for (const partition of group.topic.partitions.keys()) {
      const member = members[partition % members.length]
      const owner = group.owners.get(partition)
      if (member === undefined || (owner?.member === member && !eager)) continue
      if (owner) revoke(parts, owner)
      assignPartition(parts, member, partition)
    }
    scheduler.note(`${group.name} rebalances`)
  }

  const expel = (member: Member) => {
    const { group } = member
    if (!group.members.includes(member)) return
    group.members = group.members.filter((other) => other !== member)
    for (const assignment of member.assignments) if (isOwner(assignment)) revoke(parts, assignment)
    assign(group, false)
    // A member that was only paused notices the end of its session some time after it runs again, and then joins again.
    scheduler.later(
      networkDelay(random) * 10,
      () => {
        if (member.onLeft || group.members.includes(member)) return
        group.members.push(member)
        assign(group, true)
      },
      member.process,
    )
  }

  const leave = (member: Member) => {
    if (!member.onLeft || member.assignments.some(({ isBusy }) => isBusy)) return
    const { group } = member
    for (const assignment of member.assignments) {
      if (isOwner(assignment)) group.owners.delete(assignment.partition)
      if (!assignment.isRevoked) member.subscriber.revoked(assignment.partition)
      assignment.isRevoked = true
    }
    group.members = group.members.filter((other) => other !== member)
    member.onLeft()
    assign(group, false)
  }

  return { assign, expel, leave }
}

const isOwner = (assignment: PartitionAssignment): boolean =>
  assignment.member.group.owners.get(assignment.partition) === assignment

/** The brokers revoke the partition. The member receives the revocation some time later, perhaps during a batch. */
const revoke = ({ scheduler, random }: AssignerParts, assignment: PartitionAssignment) => {
  const delay = networkDelay(random) * 10
  if (isOwner(assignment)) assignment.member.group.owners.delete(assignment.partition)
  scheduler.later(
    delay,
    () => {
      if (assignment.isRevoked) return
      assignment.isRevoked = true
      assignment.member.assignments = assignment.member.assignments.filter(
        (other) => other !== assignment || other.isBusy,
      )
      assignment.member.subscriber.revoked(assignment.partition)
    },
    assignment.member.process,
  )
}

/** The brokers assign the partition. Soon the member receives the revocation of its earlier assignment of this partition, then the new assignment. */
const assignPartition = ({ scheduler, random, begin }: AssignerParts, member: Member, partition: number) => {
  const assignment: PartitionAssignment = {
    member,
    partition,
    isRevoked: false,
    isBusy: false,
    isIdle: false,
    startOffset: undefined,
    nextOffset: 0,
  }
  member.group.owners.set(partition, assignment)
  const revoked = member.assignments.filter((other) => other.partition === partition && !other.isRevoked)
  member.assignments.push(assignment)
  scheduler.later(
    networkDelay(random),
    () => {
      for (const other of revoked) {
        if (other.isRevoked) continue
        other.isRevoked = true
        member.subscriber.revoked(partition)
      }
      begin(assignment)
    },
    member.process,
  )
}
