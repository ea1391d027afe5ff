import type { LedgerEntry, LedgerItem, LedgerPageItem, Months } from '../../projections/activities/items.ts'
import { ledgerPages, ledgers, twoDigits } from '../../projections/activities/keys.ts'
import { isoOf } from '../../projections/instant.ts'
import { sameValue } from '../../projections/item.ts'
import { compareText } from '../../projections/order.ts'
import type { Get } from '../../projections/projection.ts'
import type { Work } from '../folding/work.ts'

/** The maximum number of activities of a page. A page then has at most about 140 KB. */
const PAGE = 2_000

/** A person, and the number of the link whose data the pages contain. */
interface Owner {
  readonly user: string
  readonly epoch: number
}

/** The names of the pages of a month: `2026-05`, `2026-05#02` and so on. */
const pagesOf = (month: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => (index === 0 ? month : `${month}#${twoDigits(index + 1)}`))

const monthIn = (page: string): string => page.slice(0, 'YYYY-MM'.length)

/** All activities of a person that are present, in the order of their starts. Reads all pages at once, so that the engine loads them in one batch. */
export const ledgerEntries = (get: Get, user: string): readonly LedgerEntry[] => {
  const months = get<LedgerItem>(ledgers.key(user))?.months ?? {}
  const names = Object.entries(months)
    .sort(([a], [b]) => compareText(a, b))
    .flatMap(([month, count]) => pagesOf(month, count))
  return names.map((name) => get<LedgerPageItem>(ledgerPages.key(user, name))).flatMap((page) => page?.entries ?? [])
}

/** Replaces an activity in the ledger. `page`: the page that contains `before`. Returns the page that contains `after`. */
export const replaceEntry = (
  work: Work,
  owner: Owner,
  {
    before,
    page,
    after,
  }: { before: LedgerEntry | undefined; page: string | undefined; after: LedgerEntry | undefined },
): string | undefined => {
  const stays = page !== undefined && after !== undefined && monthIn(page) === monthOf(after)
  if (stays) {
    if (!sameValue(before, after)) write(work, owner, page, [...others(work.get, owner, page, after), after])
    return page
  }
  if (before !== undefined && page !== undefined) removeFrom(work, owner, page, before)
  return after === undefined ? undefined : add(work, owner, after)
}

const monthOf = ([, startS]: LedgerEntry): string => isoOf(startS * 1000).slice(0, 'YYYY-MM'.length)

const entriesOf = (get: Get, { user }: Owner, page: string): readonly LedgerEntry[] =>
  get<LedgerPageItem>(ledgerPages.key(user, page))?.entries ?? []

const others = (get: Get, owner: Owner, page: string, [activityId]: LedgerEntry): readonly LedgerEntry[] =>
  entriesOf(get, owner, page).filter(([other]) => other !== activityId)

const add = (work: Work, owner: Owner, entry: LedgerEntry): string => {
  const month = monthOf(entry)
  const months = work.get<LedgerItem>(ledgers.key(owner.user))?.months ?? {}
  const count = months[month] ?? 1
  const last = pagesOf(month, count).at(-1) ?? month
  const isFull = entriesOf(work.get, owner, last).length >= PAGE
  const pages = isFull ? count + 1 : count
  const page = pagesOf(month, pages).at(-1) ?? month
  writeMonths(work, owner, { ...months, [month]: pages })
  write(work, owner, page, [...others(work.get, owner, page, entry), entry])
  return page
}

/** Removes the month if it has no activity any more. A month with several pages stays. */
const removeFrom = (work: Work, owner: Owner, page: string, entry: LedgerEntry): void => {
  const left = others(work.get, owner, page, entry)
  const { [monthIn(page)]: pages, ...months } = work.get<LedgerItem>(ledgers.key(owner.user))?.months ?? {}
  if (left.length > 0 || (pages ?? 1) > 1) return write(work, owner, page, left)
  work.remove(ledgerPages.key(owner.user, page))
  writeMonths(work, owner, months)
}

const write = (work: Work, { user, epoch }: Owner, page: string, entries: readonly LedgerEntry[]): void =>
  work.put({
    ...ledgerPages.key(user, page),
    epoch,
    entries: [...entries].sort(([a, startA], [b, startB]) => startA - startB || compareText(a, b)),
  } satisfies LedgerPageItem)

const writeMonths = (work: Work, { user, epoch }: Owner, months: Months): void => {
  const names = Object.keys(months).sort(compareText)
  const [first, last] = [names[0], names.at(-1)]
  if (first === undefined || last === undefined) return work.remove(ledgers.key(user))
  work.put({ ...ledgers.key(user), epoch, first, last, months } satisfies LedgerItem)
}
