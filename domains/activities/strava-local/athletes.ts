import { generateActivity, generatedId, orderTime, partsOfId, type Activity, type Generator } from './activity.ts'
import type { Settings } from './settings.ts'

export interface Athlete {
  readonly id: string
  readonly index: number
  readonly firstname: string
  readonly lastname: string
  readonly createdAtS: number
  readonly generator: Generator
  /** Activities that are not as generated. Undefined: the generated activity is deleted. */
  readonly changed: Map<string, Activity | undefined>
}

/** A range of a list of activities, newest first, or oldest first. */
export interface ActivityRange {
  readonly before?: number
  readonly after?: number
  readonly skip: number
  readonly limit: number
  readonly oldestFirst: boolean
  /** Whether activities that only the athlete sees are in the list. */
  readonly withOnlyMe: boolean
}

/** The athletes of the service and their activities. Generated activities are computed when they are read. */
export interface Athletes {
  create(
    athlete: Pick<Athlete, 'firstname' | 'lastname' | 'createdAtS' | 'generator'> & { readonly id?: string },
  ): Athlete
  get(id: string): Athlete | undefined
  all(): Iterable<Athlete>
  activity(id: string): Activity | undefined
  /** Creates or replaces an activity. */
  put(activity: Activity): void
  remove(id: string): void
  list(athlete: Athlete, range: ActivityRange): readonly Activity[]
  /** Returns an id of 17 digits that no activity has. */
  nextActivityId(): string
}

/** Lists of so many athletes are kept in memory. */
const LISTS = 16
const MAX_GENERATED = 1_000_000

interface Entry {
  readonly id: string
  readonly time: number
}

const compareEntries = (a: Entry, b: Entry): number => b.time - a.time || (a.id < b.id ? 1 : -1)

const generated = (athlete: Athlete, n: number): Activity | undefined => {
  if (n >= athlete.generator.count) return undefined
  const id = generatedId(athlete.index, n)
  return athlete.changed.has(id) ? athlete.changed.get(id) : generateActivity(athlete, n)
}

/** Every activity of an athlete that exists, newest first. */
const entriesOf = (athlete: Athlete, hiddenOrder: Settings['hiddenOrder']): Entry[] => {
  const entries: Entry[] = []
  const add = (activity: Activity) => entries.push({ id: activity.id, time: orderTime(activity, hiddenOrder) })
  for (let n = 0; n < athlete.generator.count; n++)
    if (!athlete.changed.has(generatedId(athlete.index, n))) add(generateActivity(athlete, n))
  for (const activity of athlete.changed.values()) if (activity !== undefined) add(activity)
  return entries.sort(compareEntries)
}

export const createAthletes = (settings: Settings): Athletes => {
  const byId = new Map<string, Athlete>()
  const byIndex: Athlete[] = []
  /** The athlete of each activity that is not as generated. */
  const ownerOf = new Map<string, Athlete>()
  const lists = new Map<string, { readonly order: string; readonly entries: readonly Entry[] }>()
  let ids = 0

  const ownerOfGenerated = (id: string): Athlete | undefined => {
    const parts = partsOfId(id)
    return parts === undefined ? undefined : byIndex[parts.athleteIndex]
  }
  const activity = (id: string): Activity | undefined => {
    const owner = ownerOf.get(id)
    if (owner !== undefined) return owner.changed.get(id)
    const athlete = ownerOfGenerated(id)
    return athlete === undefined ? undefined : generated(athlete, partsOfId(id)?.n ?? MAX_GENERATED)
  }
  const change = (id: string, athlete: Athlete, value: Activity | undefined): void => {
    athlete.changed.set(id, value)
    ownerOf.set(id, athlete)
    lists.delete(athlete.id)
  }
  const ordered = (athlete: Athlete): readonly Entry[] => {
    const known = lists.get(athlete.id)
    if (known?.order === settings.hiddenOrder) return known.entries
    const entries = entriesOf(athlete, settings.hiddenOrder)
    if (lists.size >= LISTS) lists.clear()
    lists.set(athlete.id, { order: settings.hiddenOrder, entries })
    return entries
  }

  return {
    create: ({ id, ...rest }) => {
      const index = byIndex.length
      const athlete = { ...rest, id: id ?? String(200_000_000 + index), index, changed: new Map() }
      if (byId.has(athlete.id)) throw new Error(`The athlete ${athlete.id} exists already. Choose another id.`)
      if (athlete.generator.count > MAX_GENERATED)
        throw new Error(`An athlete has at most ${MAX_GENERATED} generated activities, not ${athlete.generator.count}.`)
      byId.set(athlete.id, athlete)
      byIndex.push(athlete)
      return athlete
    },
    get: (id) => byId.get(id),
    all: () => byIndex,
    activity,
    put: (next) => {
      const athlete = byId.get(next.athlete)
      if (athlete === undefined) throw new Error(`There is no athlete ${next.athlete}. Create the athlete first.`)
      change(next.id, athlete, next)
    },
    remove: (id) => {
      const athlete = ownerOf.get(id) ?? ownerOfGenerated(id)
      if (athlete !== undefined) change(id, athlete, undefined)
    },
    list: (athlete, { before = Infinity, after = -Infinity, skip, limit, oldestFirst, withOnlyMe }) => {
      const entries = ordered(athlete).filter(({ time }) => time < before && time > after)
      if (oldestFirst) entries.reverse()
      if (withOnlyMe) return entries.slice(skip, skip + limit).flatMap(({ id }) => activity(id) ?? [])
      return entries
        .flatMap(({ id }) => activity(id) ?? [])
        .filter(({ visibility }) => visibility !== 'only_me')
        .slice(skip, skip + limit)
    },
    nextActivityId: () => {
      const id = `9${String(7_654_321 + ids++).padStart(16, '0')}`
      return id
    },
  }
}
