import type { LogRecord, Subscriber, Subscription } from '../../processors/engine/log.ts'
import { Fault, isFault } from '../../schemas/fault.ts'
import type { Topic } from './log-model.ts'
import type { Random } from './random.ts'
import type { Process, Scheduler } from './scheduler.ts'

/** The brokers' side of consumer groups: who holds which partition, as they see it and as the members believe. */
export interface Coordinator {
  join(joining: { topic: Topic; group: string; process: Process; subscriber: Subscriber }): Subscription
  appended(topic: Topic): void
  /** A member that is not heard of for a session loses its partitions; whether it ever learns of it is its own matter. */
  silent(process: Process): void
  /** Partitions change hands now. */
  rebalance(process: Process): void
  /** A partition of the process delivers again what it has delivered since it was assigned. */
  rewind(process: Process, amount: number): void
  followed(topic: Topic, group: string): boolean
  remove(topic: Topic, group: string): void
}

interface Group {
  readonly topic: Topic
  readonly name: string
  members: Member[]
  readonly owners: Map<number, Hold>
}

interface Member {
  readonly group: Group
  readonly process: Process
  readonly subscriber: Subscriber
  holds: Hold[]
  leaving: (() => void) | undefined
}

/** One assignment of one partition to one member. */
interface Hold {
  readonly member: Member
  readonly partition: number
  /** What was lost and the member knows it. What the brokers believe is `group.owners`. */
  lost: boolean
  busy: boolean
  idle: boolean
  begun: number | undefined
  next: number
}

const SESSION_MS = 6_000
const RETRY_MS = 100

export interface GroupOptions {
  readonly scheduler: Scheduler
  readonly random: Random
  /** Most records in a batch. */
  readonly batch: number
}

export const createCoordinator = ({ scheduler, random, batch: most }: GroupOptions): Coordinator => {
  const groups: Group[] = []
  const soon = () => random.next() * 20

  const groupOf = (topic: Topic, name: string): Group => {
    const known = groups.find((group) => group.topic === topic && group.name === name)
    if (known) return known
    const made: Group = { topic, name, members: [], owners: new Map() }
    groups.push(made)
    return made
  }
  const recordsOf = ({ member, partition }: Hold): readonly LogRecord[] => member.group.topic.partitions[partition] ?? []
  const owns = (hold: Hold) => hold.member.group.owners.get(hold.partition) === hold

  const begin = (hold: Hold): void => {
    const { member, partition } = hold
    const before = member.holds.find((other) => other !== hold && other.partition === partition && other.busy)
    if (hold.lost || member.leaving) return
    // A member has one batch of a partition under way at a time, also across assignments.
    if (before) return scheduler.later(soon(), () => begin(hold), member.process)
    const low = member.group.topic.lows[partition] ?? 0
    const refused = (error: unknown) => {
      if (member.process.state === 'dead' || hold.lost) return
      member.subscriber.failed(error)
      if (!isFault(error) || error.retriable) scheduler.later(RETRY_MS, () => begin(hold), member.process)
    }
    member.subscriber.assigned({ partition, low, high: recordsOf(hold).length }).then((offset) => {
      if (offset < low) return refused(new Fault('log-trimmed', `The simulated partition ${partition} begins after ${offset}.`))
      if (offset > recordsOf(hold).length) return refused(new Fault('log-truncated', `The simulated partition ${partition} ends before ${offset}.`))
      hold.begun = offset
      hold.next = offset
      fetch(hold)
    }, refused)
  }

  const fetch = (hold: Hold) => {
    hold.idle = false
    scheduler.later(soon(), () => deliver(hold), hold.member.process)
  }

  const deliver = (hold: Hold): void => {
    const { member, partition } = hold
    if (hold.lost || hold.busy || member.leaving) return
    const records = recordsOf(hold).slice(hold.next, hold.next + random.between(1, most))
    const last = records.at(-1)
    if (last === undefined) {
      hold.idle = true
      return
    }
    hold.busy = true
    scheduler.note(`${member.process.name} gets ${partition}:${hold.next}-${last.offset}`)
    const over = (then: () => void) => {
      hold.busy = false
      if (member.process.state === 'dead') return
      then()
      leave(member)
    }
    const done = () => over(() => {
      hold.next = Math.max(hold.next, last.offset + 1)
      fetch(hold)
    })
    const failed = (error: unknown) => over(() => {
      member.subscriber.failed(error)
      if (isFault(error, 'checkpoint-moved')) scheduler.later(RETRY_MS, () => begin(hold), member.process)
      else if (!isFault(error) || error.retriable) scheduler.later(RETRY_MS, () => deliver(hold), member.process)
    })
    member.subscriber.batch(records, { partition, held: () => !hold.lost }).then(done, failed)
  }

  /** The brokers take the partition away; the member hears of it some time later, perhaps in the middle of a batch. */
  const take = (hold: Hold, learnt: number) => {
    if (owns(hold)) hold.member.group.owners.delete(hold.partition)
    scheduler.later(learnt, () => {
      if (hold.lost) return
      hold.lost = true
      hold.member.holds = hold.member.holds.filter((other) => other !== hold || other.busy)
      hold.member.subscriber.revoked(hold.partition)
    }, hold.member.process)
  }

  const give = (member: Member, partition: number) => {
    const hold: Hold = { member, partition, lost: false, busy: false, idle: false, begun: undefined, next: 0 }
    member.group.owners.set(partition, hold)
    // In one process the news of the loss comes before the news of the gain.
    const losing = member.holds.filter((other) => other.partition === partition && !other.lost)
    member.holds.push(hold)
    scheduler.later(soon(), () => {
      for (const other of losing) {
        if (other.lost) continue
        other.lost = true
        member.subscriber.revoked(partition)
      }
      begin(hold)
    }, member.process)
  }

  const assign = (group: Group, eager: boolean) => {
    const members = random.shuffled(group.members)
    if (members.length === 0) return
    for (const partition of group.topic.partitions.keys()) {
      const member = members[partition % members.length]
      const owner = group.owners.get(partition)
      if (member === undefined || (owner?.member === member && !eager)) continue
      if (owner) take(owner, soon() * 10)
      give(member, partition)
    }
    scheduler.note(`${group.name} rebalances`)
  }

  const expel = (member: Member) => {
    const { group } = member
    if (!group.members.includes(member)) return
    group.members = group.members.filter((other) => other !== member)
    for (const hold of member.holds) if (owns(hold)) take(hold, soon() * 10)
    assign(group, false)
    // A member that only stood still notices some time after it wakes, and joins again.
    scheduler.later(soon() * 10, () => {
      if (member.leaving || group.members.includes(member)) return
      group.members.push(member)
      assign(group, true)
    }, member.process)
  }

  const leave = (member: Member) => {
    if (!member.leaving || member.holds.some(({ busy }) => busy)) return
    const { group } = member
    for (const hold of member.holds) {
      if (owns(hold)) group.owners.delete(hold.partition)
      if (!hold.lost) member.subscriber.revoked(hold.partition)
      hold.lost = true
    }
    group.members = group.members.filter((other) => other !== member)
    member.leaving()
    assign(group, false)
  }

  const silent = (process: Process) => scheduler.later(SESSION_MS, () => {
    if (process.state !== 'running') membersOf(process).forEach(expel)
  })

  const membersOf = (process: Process) => groups.flatMap((group) => group.members).filter((member) => member.process === process)

  return {
    join: ({ topic, group: name, process, subscriber }) => {
      const group = groupOf(topic, name)
      const member: Member = { group, process, subscriber, holds: [], leaving: undefined }
      group.members.push(member)
      assign(group, random.chance(0.5))
      // Its word may arrive after its death.
      if (process.state !== 'running') silent(process)
      let stopped: Promise<void> | undefined
      return {
        stop: () => (stopped ??= new Promise((resolve) => {
          member.leaving = resolve
          leave(member)
        })),
      }
    },
    appended: (topic) => {
      for (const { owners } of groups.filter((group) => group.topic === topic)) {
        for (const hold of owners.values()) if (hold.idle && hold.next < recordsOf(hold).length) fetch(hold)
      }
    },
    silent,
    rebalance: (process) => {
      for (const group of new Set(membersOf(process).map((member) => member.group))) assign(group, random.chance(0.5))
    },
    rewind: (process, amount) => {
      for (const { holds } of membersOf(process)) {
        for (const hold of holds) {
          if (hold.begun === undefined || hold.lost || hold.busy) continue
          hold.next = hold.begun + Math.floor((hold.next - hold.begun) * amount)
          if (hold.idle) fetch(hold)
        }
      }
    },
    followed: (topic, name) => groupOf(topic, name).members.length > 0,
    remove: (topic, name) => {
      if (groupOf(topic, name).members.length > 0) throw new Fault('group-active', `The simulated group ${name} has members.`, { retriable: true })
    },
  }
}
