import { getAll, type Paging } from '../entity.ts'
import { TOKEN_INDEX } from '../access/table.ts'
import { msOf } from '../instant.ts'
import type { Page, Reader } from '../table.ts'
import type { LedgerEntry, ModelItem, Months, PresentWorkout } from './items.ts'
import { ledgerPages, ledgers, models, twoDigits, workouts } from './keys.ts'

const MODELS = 'MODELS'

/** The keys of a model in the index, by which models are listed. */
export const modelIndexKeys = (modelId: string): { readonly GSI1PK: string; readonly GSI1SK: string } => ({
  GSI1PK: MODELS,
  GSI1SK: modelId,
})

/** A page of all models, in the order of their ids. */
export const modelPage = async (reader: Reader, paging: Paging): Promise<Page<ModelItem>> => {
  const { items, ...rest } = await reader.query({ index: TOKEN_INDEX.name, pk: MODELS, prefix: '', ...paging })
  const found = await getAll(
    reader,
    items.map(({ PK }) => models.key(PK.slice(models.key('').PK.length))),
  )
  return { items: found.filter((model) => model !== undefined), ...rest }
}

/** A position in the list of activities: the next activity starts before it, or at the same time and has a lower id. */
export interface ActivityPosition {
  readonly startS: number
  readonly activityId: string
}

export interface ActivityRange {
  /** Epoch seconds, both inclusive. */
  readonly from: number
  readonly to: number
  readonly after: ActivityPosition | undefined
  readonly limit: number
}

/** The present activities of a person in a range, the newest first, and the position of the last one if there are more. */
export const recentActivities = async (
  reader: Reader,
  user: string,
  { from, to, after, limit }: ActivityRange,
): Promise<{ readonly items: readonly PresentWorkout[]; readonly last: ActivityPosition | undefined }> => {
  const months = (await ledgers.get(reader, user))?.months ?? {}
  const [first, last] = [monthOf(from), monthOf(Math.min(to, after?.startS ?? to))]
  const entries: LedgerEntry[] = []
  for (const month of Object.keys(months).sort().reverse()) {
    if (month > last || month < first) continue
    const found = (await entriesOf(reader, user, { month, months })).filter(
      ([id, startS]) => startS >= from && startS <= to && (after === undefined || isAfter([id, startS], after)),
    )
    entries.push(...found.sort(newestFirst))
    if (entries.length > limit) break
  }
  const page = entries.slice(0, limit)
  const items = await getAll(
    reader,
    page.map(([id]) => workouts.key(user, id)),
  )
  const end = entries.length > limit ? page.at(-1) : undefined
  return {
    items: items.filter((item): item is PresentWorkout => item?.isDeleted === false),
    last: end && { activityId: end[0], startS: end[1] },
  }
}

const entriesOf = async (
  reader: Reader,
  user: string,
  { month, months }: { readonly month: string; readonly months: Months },
): Promise<LedgerEntry[]> => {
  const names = Array.from({ length: months[month] ?? 0 }, (_, at) =>
    at === 0 ? month : `${month}#${twoDigits(at + 1)}`,
  )
  const pages = await getAll(
    reader,
    names.map((name) => ledgerPages.key(user, name)),
  )
  return pages.flatMap((page) => [...(page?.entries ?? [])])
}

/** Ids have different lengths, so they are compared as texts of equal length. */
const newestFirst = (
  [a, aStart]: readonly [string, number, ...unknown[]],
  [b, bStart]: readonly [string, number, ...unknown[]],
): number => bStart - aStart || (b.padStart(20, '0') < a.padStart(20, '0') ? -1 : 1)

const isAfter = (entry: readonly [string, number], { activityId, startS }: ActivityPosition): boolean =>
  newestFirst(entry, [activityId, startS]) > 0 && entry[0] !== activityId

const [EARLIEST_MS, LATEST_MS] = [msOf('1970-01-01T00:00:00.000Z'), msOf('9998-12-31T23:59:59.000Z')]
export const [EARLIEST_S, LATEST_S] = [EARLIEST_MS / 1000, LATEST_MS / 1000]

const monthOf = (seconds: number): string =>
  new Date(Math.min(Math.max(seconds, EARLIEST_S), LATEST_S) * 1000).toISOString().slice(0, 7)
