import { expect, test } from 'vitest'
import type { Watermarks } from '../../processors/engine/ports/log.ts'
import { listener, type Listener } from './listener.ts'
import { numbered, record, type LogSubject } from './log-records.ts'

/** The rules of the log port for several subscribers. */
export function groupRules({ fresh }: LogSubject): void {
  test('each of two groups gets all records', async () => {
    const log = await fresh()
    await log.append([...numbered('a', 10), ...numbered('b', 10)])
    const [one, other] = [listener(), listener()]
    const subscriptions = await Promise.all([
      log.subscribe(`${log.topic}.one`, one),
      log.subscribe(`${log.topic}.other`, other),
    ])
    await Promise.all([one.saw(20), other.saw(20)])
    await Promise.all(subscriptions.map((subscription) => subscription.stop()))
    expect(places(one)).toEqual(places(other))
  })

  test('members of one group share the records: each record is delivered to one member, and the remaining member takes over', async () => {
    const log = await fresh()
    const { partitions } = await log.identity()
    const shared = sharedStart()
    const [one, other] = [listener(shared), listener(shared)]
    const first = await log.subscribe(`${log.topic}.g`, one)
    await expect.poll(() => one.owned.size, { timeout: 25_000 }).toBe(partitions)
    const second = await log.subscribe(`${log.topic}.g`, other)
    await expect.poll(() => settled([one, other], partitions), { timeout: 25_000 }).toBe(true)
    await log.append(Array.from({ length: 60 }, (_, index) => record(`key-${index}`, `${index}`)))
    await expect.poll(() => one.seen.length + other.seen.length, { timeout: 25_000 }).toBe(60)
    expect(new Set([...places(one), ...places(other)]).size).toBe(60)
    await first.stop()
    await log.append(Array.from({ length: 60 }, (_, index) => record(`key-${index}`, `later ${index}`)))
    await expect
      .poll(() => other.texts().filter((value) => value.startsWith('later')).length, { timeout: 25_000 })
      .toBe(60)
    await second.stop()
    expect(new Set([...places(one), ...places(other)]).size).toBe(120)
  })

  test('a member that leaves in the middle does not affect the partitions of the others', async () => {
    const log = await fresh()
    const { partitions } = await log.identity()
    const shared = sharedStart()
    const members = [listener(shared), listener(shared), listener(shared)]
    const subscriptions = []
    for (const member of members) subscriptions.push(await log.subscribe(`${log.topic}.g`, member))
    const owned = () => members.reduce((sum, one) => sum + one.owned.size, 0)
    await expect.poll(owned, { timeout: 25_000 }).toBe(partitions)
    await subscriptions[1]?.stop()
    await expect.poll(owned, { timeout: 25_000 }).toBe(partitions)
    await log.append(Array.from({ length: 40 }, (_, index) => record(`key-${index}`, `${index}`)))
    await expect.poll(() => new Set(members.flatMap(places)).size, { timeout: 25_000 }).toBe(40)
    expect(owned()).toBe(partitions)
    expect(members.flatMap(places)).toHaveLength(40)
    await Promise.all(subscriptions.map((subscription) => subscription.stop()))
  })

  test('a group is followed from its first member until its last one leaves', async () => {
    const log = await fresh()
    const group = `${log.topic}.followed`
    expect(await log.isFollowed(group)).toBe(false)
    const subscription = await log.subscribe(group, listener())
    await expect.poll(() => log.isFollowed(group), { timeout: 25_000 }).toBe(true)
    await subscription.stop()
    expect(await log.isFollowed(group)).toBe(false)
  })

  test('a group without members can be removed, and a second removal has no effect', async () => {
    const log = await fresh()
    await log.append(numbered('k', 3))
    const subscriber = listener()
    const subscription = await log.subscribe(`${log.topic}.gone`, subscriber)
    await subscriber.saw(3)
    await expect(log.removeGroup(`${log.topic}.gone`)).rejects.toMatchObject({ code: 'group-active', retriable: true })
    await subscription.stop()
    await log.removeGroup(`${log.topic}.gone`)
    await log.removeGroup(`${log.topic}.gone`)
  })
}

const places = ({ seen }: Listener): string[] => seen.map(({ partition, offset }) => `${partition}:${offset}`).sort()

/** True if the members together own all partitions, and each member owns at least one. If there is only one partition: true if a member owns it. */
const settled = (members: readonly Listener[], partitions: number): boolean =>
  members.reduce((sum, { owned }) => sum + owned.size, 0) === partitions &&
  (partitions === 1 || members.every(({ owned }) => owned.size > 0))

/** Options for subscribers that share one checkpoint per partition, as the members of a group share the checkpoints of a store. */
function sharedStart() {
  const next = new Map<number, number>()
  return {
    start: (watermarks: Watermarks) => next.get(watermarks.partition) ?? watermarks.low,
    during: (records: readonly { partition: number; offset: number }[]) => {
      for (const { partition, offset } of records) next.set(partition, offset + 1)
    },
  }
}
