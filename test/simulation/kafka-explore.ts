import type { LogRecord } from '../../processors/engine/ports/log.ts'
import { keyOf } from '../../projections/item.ts'
import { memoryStore } from '../../testing/memory-store.ts'
import { createBroker } from './kafka-broker.ts'
import { createMember, listKey, tick, TIMING, type List, type Member, type Trouble } from './kafka-members.ts'

/** The result of an exploration. */
export interface Explored {
  /** The number of runs. Each run is a sequence of actions and a recovery, with checks after every step. */
  readonly runs: number
  readonly states: number
  /** The number of writes that were rejected because another member had written. */
  readonly refused: number
  /** The first broken rule, and the actions that led to it. Undefined if no rule was broken. */
  readonly broken: string | undefined
}

export interface Bounds {
  /** Maximum number of actions before the recovery. */
  readonly depth: number
  /** The number of members that have joined before the first action. */
  readonly joined: 1 | 2
  /** Fixed actions at the start of every sequence. */
  readonly after?: readonly string[]
}

const TROUBLES: readonly (readonly [how: string, trouble: Trouble])[] = [
  ['pauses before its write', 'before its write'],
  ['pauses after its write', 'after its write'],
  ['waits for its write', 'slow'],
  ['fails', 'fails'],
]
const PARTITIONS = 2
const RECORDS = 2
const ROUNDS = 60

interface Ran {
  readonly state: string
  readonly next: readonly string[]
  readonly refused: number
  readonly broken: readonly string[]
}

const quiet = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const createModel = () => {
  const partitions: LogRecord[][] = Array.from({ length: PARTITIONS }, (_, partition) =>
    Array.from({ length: RECORDS }, (_, offset) => tick(partition, offset)),
  )
  const broker = createBroker(partitions)
  const store = memoryStore()
  const broken: string[] = []
  let now = 1_000_000
  let refused = 0
  const members = ['a', 'b'].map((name) =>
    createMember({
      name,
      broker,
      store,
      now: () => now,
      broken: (what) => broken.push(what),
      refused: () => (refused += 1),
    }),
  )
  const listOf = (partition: number): readonly number[] =>
    (store.items.get(keyOf(listKey(partition))) as List | undefined)?.ids ?? []

  const actionsOf = (member: Member): readonly (readonly [string, () => void])[] => {
    const { name, consumer, isFrozen } = member
    if (consumer === undefined) return isFrozen ? [] : [[`${name} starts`, member.start]]
    if (isFrozen) {
      const expires: readonly (readonly [string, () => void])[] = broker.isMember(consumer)
        ? [[`the session of ${name} ends`, () => expire(member)]]
        : []
      return [[`${name} wakes`, member.wake], ...expires]
    }
    const fetches = partitions
      .flatMap((_, partition) => (consumer.canDeliver(partition) ? [partition] : []))
      .flatMap(
        (partition) =>
          [
            [`${name} takes ${partition}`, () => consumer.deliver(partition)],
            ...TROUBLES.map(
              ([how, trouble]) =>
                [
                  `${name} takes ${partition} and ${how}`,
                  () => {
                    member.meet(trouble)
                    consumer.deliver(partition)
                  },
                ] as const,
            ),
          ] as const,
      )
    const answers: readonly (readonly [string, () => void])[] = member.isWaiting
      ? [[`the store answers ${name}`, member.answer]]
      : []
    const late = () => {
      member.freeze()
      consumer.beat()
    }
    return [
      ...fetches,
      ...answers,
      [`${name} sends a heartbeat`, consumer.beat],
      [`${name} sends a heartbeat and pauses before the answer`, late],
      [`${name} leaves`, member.leave],
    ]
  }
  const pass = (ms: number): void => {
    now += ms
    for (const member of members) member.fire()
  }
  /** Ends the session of a member. The other members that are not paused send heartbeats, so their sessions continue. */
  const expire = ({ consumer }: Member): void => {
    now += TIMING.session + 1
    for (const member of members) if (!member.isFrozen) member.consumer?.beat()
    if (consumer !== undefined) broker.leave(consumer)
  }
  const check = async (): Promise<void> => {
    const checkpoints = await store.checkpoints()
    for (const [partition] of partitions.entries()) {
      const ids = listOf(partition)
      if (ids.some((id, index) => id !== index)) broken.push(`partition ${partition} was folded as ${ids.join()}`)
      if ((checkpoints.get(partition) ?? 0) > ids.length)
        broken.push(`the checkpoint of partition ${partition} is ahead of its items`)
      if ((broker.committed.get(partition) ?? 0) > ids.length)
        broken.push(`the committed offset of partition ${partition} is ahead of its items`)
      const holders = members.filter(({ leases }) =>
        leases.some((lease) => lease.partition === partition && lease.isCurrent()),
      )
      if (holders.length > 1) broken.push(`two members hold a lease of partition ${partition}`)
    }
  }
  const actions = (): ReadonlyMap<string, () => void> =>
    new Map([...members.flatMap(actionsOf), ['time passes', () => pass(TIMING.heartbeat)]])
  /** Ends the faults, and appends one more record to each partition. Then the members must fold all records and commit their offsets. */
  const recover = async (): Promise<void> => {
    for (const [partition, records] of partitions.entries()) records.push(tick(partition, RECORDS))
    const isDone = () =>
      partitions.every(
        (records, partition) =>
          listOf(partition).length === records.length && broker.committed.get(partition) === records.length,
      )
    for (let round = 0; round < ROUNDS && !isDone(); round += 1) {
      for (const member of members) {
        member.wake()
        member.answer()
        if (member.consumer === undefined) member.start()
      }
      await quiet()
      for (const { consumer } of members) consumer?.beat()
      await quiet()
      for (const { consumer } of members)
        for (const [partition] of partitions.entries()) if (consumer?.canDeliver(partition)) consumer.deliver(partition)
      await quiet()
      pass(TIMING.heartbeat / 2)
      await check()
    }
    if (!isDone())
      broken.push(
        `it does not come to rest: ${partitions.map((_, partition) => `${listOf(partition).join()} committed ${broker.committed.get(partition) ?? 0}`).join('; ')}; ${broker.describe()}; ${members.map((member) => member.describe()).join('; ')}`,
      )
  }
  const describe = async () =>
    [
      broker.describe(),
      ...members.map((member) => member.describe()),
      ...store.dump(),
      JSON.stringify([...(await store.checkpoints())]),
    ].join('\n')
  return { members, actions, check, recover, describe, broken, refused: () => refused }
}

const run = async (sequence: readonly string[], joined: number): Promise<Ran> => {
  const model = createModel()
  for (const member of model.members.slice(0, joined)) member.start()
  await quiet()
  for (const member of model.members.slice(0, joined)) member.consumer?.beat()
  await quiet()
  for (const name of sequence) {
    const act = model.actions().get(name)
    if (act === undefined) throw new Error(`the run differs when it is repeated: ${sequence.join(', ')}`)
    act()
    await quiet()
    await model.check()
  }
  const [state, next] = [await model.describe(), [...model.actions().keys()]]
  await model.recover()
  return { state, next, refused: model.refused(), broken: model.broken }
}

/** Runs every sequence of up to `depth` actions. If several sequences lead to the same visible state, continues only the first of them. */
export const explore = async ({ depth, joined, after = [] }: Bounds): Promise<Explored> => {
  const first = await run(after, joined)
  const seen = new Set([first.state])
  let frontier: readonly { readonly sequence: readonly string[]; readonly next: readonly string[] }[] = [
    { sequence: after, next: first.next },
  ]
  let [runs, refused] = [1, first.refused]
  for (let length = 1; length <= depth; length += 1) {
    const grown: { sequence: readonly string[]; next: readonly string[] }[] = []
    for (const { sequence, next } of frontier) {
      for (const name of next) {
        const tried = [...sequence, name]
        const ran = await run(tried, joined)
        runs += 1
        refused += ran.refused
        if (ran.broken.length > 0)
          return { runs, states: seen.size, refused, broken: `${ran.broken[0]}\n  after: ${tried.join('; ')}` }
        if (seen.has(ran.state)) continue
        seen.add(ran.state)
        grown.push({ sequence: tried, next: ran.next })
      }
    }
    frontier = grown
  }
  return { runs, states: seen.size, refused, broken: undefined }
}
