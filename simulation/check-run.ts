import type { Domain } from '../projections/projection.ts'
import type { Codec } from '../schemas/codec.ts'
import type { Event } from '../schemas/event.ts'
import type { Bug } from './bug.ts'
import {
  checkAppends,
  checkIndexed,
  checkItems,
  checkOutcomes,
  checkCheckpoints,
  checkPoints,
  type History,
  type Violation,
} from './checkers.ts'
import { checkAsks } from './checkers-asks.ts'
import { checkForgotten } from './checkers-forgotten.ts'
import { checkSent } from './checkers-sent.ts'
import type { BuildMachine } from './build-machine.ts'
import type { Fault } from './faults.ts'
import type { ForgettingRequest } from './forgetter.ts'
import { checkRebuilt } from './rebuilt.ts'
import { expectedOf, type Expected } from './reference.ts'
import type { StoredSeries, Workload } from './workload.ts'
import type { World } from './world.ts'

/** The end state of a run. */
interface FinishedRun {
  readonly world: World
  readonly workload: Workload
  readonly history: History
  readonly seed: number
  readonly faults: readonly Fault[]
  readonly buildMachine: BuildMachine
  readonly forgotten: readonly ForgettingRequest[]
  readonly rules: Bug['rules']
  readonly hasRestarted: boolean
}

/** Runs all checkers on the end state. Checks rebuilds (C4) only for every tenth seed, because a rebuild is slow. */
export const checkRun = async ({
  world,
  workload,
  history,
  seed,
  faults,
  buildMachine,
  forgotten,
  hasRestarted,
  rules = (domain) => domain,
}: FinishedRun): Promise<readonly Violation[]> => {
  const { topic, tables } = world
  const codec = withDecodeCache(world.reading())
  const expectations = world.domains.map((domain) => ({ domain, expected: expectedOf({ domain, codec, topic }) }))
  const [{ expected }] = expectations as [DomainExpectation]
  return [
    ...expectations.flatMap((each) => checkDomain(world, each)),
    ...checkAppends(topic, codec, history),
    ...checkSent({ topic, codec, expected, faults, forgotten }),
    ...checkAsks({ topic, codec, expected, faults, hasRestarted, arrived: world.outside.arrived }),
    ...(workload.isSealed
      ? checkForgotten({
          topic,
          codec,
          sentEvents: sentEvents(workload),
          forgotten,
          tables: [...tables.all(), ...buildMachine.local.values()],
        })
      : []),
    ...(workload.check?.({
      topic,
      codec,
      rules,
      stored: world.domains.flatMap((domain) => storedSeries(world, domain)),
    }) ?? []),
    ...(seed % 10 === 0
      ? (
          await Promise.all(
            expectations.map(({ domain, expected: folded }) =>
              checkRebuilt(topic, { domain, codec: world.reading() }, folded),
            ),
          )
        ).flat()
      : []),
  ]
}

interface DomainExpectation {
  readonly domain: Domain
  readonly expected: Expected
}

const checkDomain = (
  { topic, tables, series, reportedOutcomes }: World,
  { domain, expected }: DomainExpectation,
): readonly Violation[] => [
  ...tables
    .following(domain)
    .flatMap(({ generation, table }) =>
      [
        ...checkItems(table.items.values(), expected),
        ...checkCheckpoints(topic, table, expected),
        ...(domain.series ? checkPoints(series.of(domain.series, generation), expected) : []),
      ].map(({ checker, detail }) => ({ checker, detail: `${domain.name}, generation ${generation}: ${detail}` })),
    ),
  ...checkIndexed(domain.table, expected),
  ...checkOutcomes(reportedOutcomes(domain), expected),
]

const storedSeries = ({ tables, series }: World, domain: Domain): readonly StoredSeries[] => {
  const { series: spec } = domain
  return spec === undefined
    ? []
    : tables
        .following(domain)
        .map(({ generation, table }) => ({
          name: `generation ${generation}`,
          points: series.of(spec, generation).points,
          items: table.items,
        }))
}

const sentEvents = ({ clients }: Workload): ReadonlyMap<string, Event> =>
  new Map(
    clients
      .flat()
      .flatMap(({ id, payload }) => (id === null || payload instanceof Uint8Array ? [] : [[id, payload] as const])),
  )

/** Decodes each record once, although every checker reads every record. */
const withDecodeCache = (codec: Codec): Codec => {
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
