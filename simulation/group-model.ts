import type { Subscriber, Subscription } from '../processors/engine/ports/log.ts'
import { Fault } from '../schemas/fault.ts'
import { createAssigner } from './group-assigner.ts'
import { createDelivery } from './group-delivery.ts'
import { recordsOf, type Group, type Member } from './group-state.ts'
import type { Topic } from './log-model.ts'
import type { Process } from './process.ts'
import type { Random } from './random.ts'
import type { Scheduler } from './scheduler.ts'

/** The brokers' side of consumer groups. Brokers and members can disagree about the owner of a partition for a while. */
export interface Coordinator {
  join(joining: { topic: Topic; group: string; process: Process; subscriber: Subscriber }): Subscription
  /** Delivers the new records of the topic to idle members. */
  appended(topic: Topic): void
  /**
   * Begins the wait for the end of a session. If the process is not running at the end, its members lose their partitions. The members
   * receive the revocations only if the process runs again.
   */
  silent(process: Process): void
  /** Assigns the partitions of the groups of this process again. */
  rebalance(process: Process): void
  /** Delivers records again that the members of the process have received since their assignment: all of them if `amount` is 0, none if it is 1. */
  rewind(process: Process, amount: number): void
  followed(topic: Topic, group: string): boolean
  remove(topic: Topic, group: string): void
}

const SESSION_MS = 6_000

export interface GroupOptions {
  readonly scheduler: Scheduler
  readonly random: Random
  /** Maximum number of records per batch. */
  readonly batch: number
}

export const createCoordinator = ({ scheduler, random, batch }: GroupOptions): Coordinator => {
  const groups: Group[] = []

  const groupOf = (topic: Topic, name: string): Group => {
    const known = groups.find((group) => group.topic === topic && group.name === name)
    if (known) return known
    const made: Group = { topic, name, members: [], owners: new Map() }
    groups.push(made)
    return made
  }
  const { begin, fetch } = createDelivery({ scheduler, random, batch, ended: (member) => leave(member) })
  const { assign, expel, leave } = createAssigner({ scheduler, random, begin })

  const silent = (process: Process) =>
    scheduler.later(SESSION_MS, () => {
      if (process.state !== 'running') membersOf(process).forEach(expel)
    })

  const membersOf = (process: Process) =>
    groups.flatMap((group) => group.members).filter((member) => member.process === process)

  return {
    join: ({ topic, group: name, process, subscriber }) => {
      const group = groupOf(topic, name)
      const member: Member = { group, process, subscriber, assignments: [], onLeft: undefined }
      group.members.push(member)
      assign(group, random.chance(0.5))
      // The request to join can arrive when its process is already dead or paused. Then the session of the new member can end, too.
      if (process.state !== 'running') silent(process)
      let stopped: Promise<void> | undefined
      return {
        stop: () =>
          (stopped ??= new Promise((resolve) => {
            member.onLeft = resolve
            leave(member)
          })),
      }
    },
    appended: (topic) => {
      for (const { owners } of groups.filter((group) => group.topic === topic)) {
        for (const assignment of owners.values())
          if (assignment.isIdle && assignment.nextOffset < recordsOf(assignment).length) fetch(assignment)
      }
    },
    silent,
    rebalance: (process) => {
      for (const group of new Set(membersOf(process).map((member) => member.group))) assign(group, random.chance(0.5))
    },
    rewind: (process, amount) => {
      for (const { assignments } of membersOf(process)) {
        for (const assignment of assignments) {
          if (assignment.startOffset === undefined || assignment.isRevoked || assignment.isBusy) continue
          assignment.nextOffset =
            assignment.startOffset + Math.floor((assignment.nextOffset - assignment.startOffset) * amount)
          if (assignment.isIdle) fetch(assignment)
        }
      }
    },
    followed: (topic, name) => groupOf(topic, name).members.length > 0,
    remove: (topic, name) => {
      if (groupOf(topic, name).members.length > 0)
        throw new Fault('group-active', `The simulated group ${name} has members.`, { retriable: true })
    },
  }
}
