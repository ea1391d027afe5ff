import type { Domain } from '../../projections/projection.ts'
import type { Codec } from '../../schemas/codec.ts'
import type { Event } from '../../schemas/event.ts'
import type { Bug } from './bug.ts'
import { checkAppends, checkIndexed, checkItems, checkOutcomes, checkPassed, checkPoints, type History, type Violation } from './checkers.ts'
import { checkForgotten } from './checkers-forgotten.ts'
import { checkSent } from './checkers-sent.ts'
import type { Desk } from './desk.ts'
import type { Fault } from './faults.ts'
import type { Asked } from './forgetter.ts'
import { checkRebuilt } from './rebuilt.ts'
import { expectedOf, type Expected } from './reference.ts'
import type { Stored, Workload } from './workload.ts'
import type { World } from './world.ts'

/** How a run came out. */
interface Checked {
  readonly world: World
  readonly workload: Workload
  readonly history: History
  readonly seed: number
  readonly faults: readonly Fault[]
  readonly desk: Desk
  readonly forgotten: readonly Asked[]
  readonly rules: Bug['rules']
}

/** Everything that was promised, when all has come to rest. */
export const checkAll = async ({ world, workload, history, seed, faults, desk, forgotten, rules = (domain) => domain }: Checked): Promise<readonly Violation[]> => {
  const { topic, tables } = world
  const codec = remembering(world.reading())
  const judged = world.domains.map((domain) => ({ domain, expected: expectedOf({ domain, codec, topic }) }))
  const [{ expected }] = judged as [Judged]
  return [
    ...judged.flatMap((one) => checkDomain(world, one)),
    ...checkAppends(topic, codec, history),
    ...checkSent({ topic, codec, expected, faults }),
    ...(workload.sealed ? checkForgotten({ topic, codec, said: saidBy(workload), forgotten, tables: [...tables.all(), ...desk.local.values()] }) : []),
    ...(workload.check?.({ topic, codec, rules, stored: world.domains.flatMap((domain) => storedOf(world, domain)) }) ?? []),
    ...(seed % 10 === 0 ? (await Promise.all(judged.map((one) => checkRebuilt(topic, { domain: one.domain, codec: world.reading() }, one.expected)))).flat() : []),
  ]
}

interface Judged {
  readonly domain: Domain
  readonly expected: Expected
}

const checkDomain = ({ topic, tables, series, heard }: World, { domain, expected }: Judged): readonly Violation[] => [
  ...tables.following(domain).flatMap(({ generation, table }) => [
    ...checkItems(table.items.values(), expected),
    ...checkPassed(topic, table, expected),
    ...(domain.series ? checkPoints(series.of(domain.series, generation), expected) : []),
  ].map(({ checker, detail }) => ({ checker, detail: `${domain.name}, generation ${generation}: ${detail}` }))),
  ...checkIndexed(domain.table, expected),
  ...checkOutcomes(heard(domain), expected),
]

const storedOf = ({ tables, series }: World, domain: Domain): readonly Stored[] => {
  const { series: spec } = domain
  return spec === undefined ? [] : tables.following(domain).map(({ generation, table }) => ({ name: `generation ${generation}`, points: series.of(spec, generation).points, items: table.items }))
}

const saidBy = ({ clients }: Workload): ReadonlyMap<string, Event> =>
  new Map(clients.flat().flatMap(({ id, what }) => (id === null || what instanceof Uint8Array ? [] : [[id, what] as const])))

/** Every checker reads every record: once is enough. */
const remembering = (codec: Codec): Codec => {
  const known = new Map<Uint8Array, Event>()
  return {
    ...codec,
    decode: (value) => {
      const event = known.get(value) ?? codec.decode(value)
      known.set(value, event)
      return event
    },
  }
}
