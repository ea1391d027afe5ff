import type { Reader } from '../../../projections/table.ts'
import { isFault } from '../../../schemas/fault.ts'
import type { Control } from './control.ts'
import { endsOf, type Positions } from './positions.ts'
import { SENDABLE_MS } from '../outgoing/ledger.ts'
import type { Clock } from '../ports/clock.ts'
import type { Store } from '../ports/store.ts'
import type { UnsentEvents } from './generation.ts'
import { EVERY_PROJECTION, type Log } from '../ports/log.ts'

type Served = Pick<Store, 'checkpoints' | 'reader'>

/**
 * Returns the serving generation, for a rebuild or a flip that replaces it. If its table is missing, reads return no items, and
 * `checkpoints` returns the result of `lostAt`.
 */
export const evenIfLost = (open: () => Promise<Served>, lostAt: () => Positions | Promise<Positions>): Served => {
  const reading =
    (now: () => number) =>
    async <T>(read: (reader: Reader) => Promise<T>, none: T): Promise<T> =>
      open()
        .then((store) => read(store.reader(now)))
        .catch(unlessMissing(() => none))
  return {
    checkpoints: () =>
      open()
        .then((store) => store.checkpoints())
        .catch(unlessMissing(lostAt)),
    reader: (now) => {
      const read = reading(now)
      return {
        get: (key) => read((reader) => reader.get(key), undefined),
        getMany: (keys) =>
          read(
            (reader) => reader.getMany(keys),
            keys.map(() => undefined),
          ),
        query: (query) => read((reader) => reader.query(query), { items: [] }),
      }
    },
  }
}

interface ReplacedParts {
  readonly domain: { readonly name: string }
  readonly log: Pick<Log, 'watermarks'>
  readonly control: Pick<Control, 'serving'>
  readonly clock: Pick<Clock, 'now'>
}

/** The serving generation that a rebuild replaces. */
export interface ReplacedGeneration extends Served {
  /** The events whose outbox rows were lost with the table of this generation. Empty if the table exists. */
  readonly unsentIfLost?: () => Promise<readonly UnsentEvents[]>
}

/**
 * Returns the serving generation, for a rebuild. If its table is missing, its checkpoints and its outbox are lost. So the build folds to
 * the end of the log. It writes an outbox row for every event derived since the generation began to serve. For a key that was parked in the
 * generation before it, it writes these rows since the key was parked. The ledger prevents that an event is sent twice. It may have forgotten what was sent long ago, so the
 * build writes no row for an event that was recorded before that time.
 */
export const replacedEvenIfLost = (
  open: () => Promise<Served>,
  { domain, log, control, clock }: ReplacedParts,
): ReplacedGeneration => ({
  ...evenIfLost(open, () => endsOf(log)),
  unsentIfLost: async () => {
    if (!(await isLost(open))) return []
    const { from, parked } = await control.serving(domain.name)
    const since = clock.now() - SENDABLE_MS
    const served = [...(await endsOf(log)).keys()].map((partition) => ({
      projection: EVERY_PROJECTION,
      key: null,
      partition,
      offset: from.get(partition) ?? 0,
      since,
    }))
    return [...served, ...[...parked].map(([name, offset]) => ({ ...parkedNamed(name), offset, since }))]
  },
})

/** Splits the name of a parked key in a serving period, `projection#key`. */
const parkedNamed = (name: string): Pick<UnsentEvents, 'projection' | 'key'> => ({
  projection: name.slice(0, name.indexOf('#')),
  key: name.slice(name.indexOf('#') + 1),
})

type Opening = () => Promise<Pick<Store, 'checkpoints'>>

/** Resolves to the checkpoints, or to undefined if the table is missing. */
export const checkpointsUnlessLost = (open: Opening): Promise<Positions | undefined> =>
  open()
    .then((store) => store.checkpoints())
    .catch(unlessMissing(() => undefined))

export const isLost = async (open: Opening): Promise<boolean> => (await checkpointsUnlessLost(open)) === undefined

const unlessMissing =
  <T>(then: () => T) =>
  (error: unknown): T => {
    if (!isFault(error, 'table-missing')) throw error
    return then()
  }
