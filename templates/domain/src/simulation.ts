import { workloadOf, type Domain, type DomainSimulation } from 'tributary/domain'
import { MAX_AMOUNT } from './folds.ts'
import { entries, summaries, type EntryItem, type SummaryItem } from './items.ts'

/** True if a person's summary has the number of the person's entries, and the sum of their amounts. */
const isSummed = ({ PK, entries: count, total }: SummaryItem, all: readonly EntryItem[]): boolean => {
  const own = all.filter((entry) => entry.PK === PK)
  return own.length === count && own.reduce((sum, { amount }) => sum + amount, 0) === total
}

/** Two people add and remove entries. The simulation uses few ids, so that many events concern the same entry and some are refused. */
export const simulationOf = (domain: Domain): DomainSimulation => ({
  workload: workloadOf(
    domain,
    ({ random }) => {
      const key = random.pick(['ada', 'bob'])
      const entryId = random.pick(['e1', 'e2', 'e3'])
      if (random.chance(0.3)) return { type: 'EntryRemoved', key, data: { entryId } }
      const amount = random.pick([0, 1, 20, MAX_AMOUNT])
      return { type: 'EntryAdded', key, data: { entryId, amount }, personal: { note: random.pick([null, 'lunch']) } }
    },
    {
      check: ({ items }) => {
        const all = items.filter(({ SK }) => SK.startsWith(entries.prefix)).map((item) => item as EntryItem)
        return items
          .filter(({ SK }) => SK === summaries.prefix)
          .map((item) => item as SummaryItem)
          .filter((summary) => !isSummed(summary, all))
          .map(({ PK }) => `The summary of ${PK} is not the sum of its entries.`)
      },
    },
  ),
})
