import type { Item, Key } from '../projections/item.ts'
import type { Write } from '../processors/engine/ports/store.ts'
import type { Bug, BugContext } from './bug.ts'
import { allApplied, storing, writing } from './bug-ports.ts'

/** No faults. Then an answered ask may not be called again. */
const CALM: Bug['options'] = { domain: 'errands', moves: [], rates: {} }
const FLIPS: Bug['options'] = { domain: 'errands', moves: ['rebuild', 'flip'], rates: {} }
const CRASHES: Bug['options'] = { domain: 'errands', moves: [], rates: { 'crash-before': 0.02, 'crash-after': 0.02 } }

/** Returns a bug that pretends to write the rows of the ledger for which `isLost` returns true, and does not find rows with these keys. */
const losing =
  (isLost: (key: Key) => boolean): NonNullable<Bug['ledger']> =>
  (store) => ({
    ...store,
    load: async (keys) =>
      (await store.load(keys)).map((item) => (item !== undefined && isLost(item) ? undefined : item)),
    commit: (spans, checkpoint) => ledgerWrite(store.commit, (write) => !isLost(keyOfWrite(write)))(spans, checkpoint),
  })

const keyOfWrite = (write: Write): Key => ('put' in write ? write.put : write.remove)

type Commit = Parameters<NonNullable<Bug['ledger']>>[0]['commit']

/** Returns a commit that leaves out some writes, and reports that they are applied. */
const ledgerWrite =
  (commit: Commit, isKept: (write: Write) => boolean): Commit =>
  async (spans, checkpoint) => {
    const kept = spans.map((span) => span.map((chunk) => chunk.filter(isKept)).filter(({ length }) => length > 0))
    return kept.every(({ length }) => length > 0) ? commit(kept, checkpoint) : allApplied(spans)
  }

/** Returns a bug of the reads of asks: the fetcher does not see this attribute of an ask. */
const unseen = (attribute: 'once' | 'changes'): Bug =>
  storing((store) => ({
    reader: (now) => {
      const reader = store.reader(now)
      const without = (item: Item): Item => {
        const { [attribute]: _, ...rest } = item
        return rest as Item
      }
      return {
        ...reader,
        query: async (query) => {
          const page = await reader.query(query)
          return query.pk.startsWith('ASK#') ? { ...page, items: page.items.map(without) } : page
        },
      }
    },
  }))

const isExtension = (write: Write, { table }: BugContext): boolean => {
  if (!('put' in write)) return false
  const before = [...table.items.values()].find(({ PK, SK }) => PK === write.put.PK && SK === write.put.SK)
  return before !== undefined && before['by'] === write.put['by'] && write.put['until'] !== undefined
}

/** Mistakes in the calls of asks. */
export const ASK_BUGS: Readonly<Record<string, Bug>> = {
  'asks are called without a claim': {
    options: CALM,
    detectedBy: 'asks',
    ledger: losing(({ PK }) => PK.startsWith('SENT#')),
  },
  'the answer to an ask is not recorded': {
    options: CALM,
    detectedBy: 'asks',
    ledger: (store) => ({
      ...store,
      commit: ledgerWrite(store.commit, (write) => !('put' in write && write.put['state'] === 'sent')),
    }),
  },
  'a queue has no lease': { options: CALM, detectedBy: 'asks', ledger: losing(({ PK }) => PK.startsWith('QUEUE#')) },
  'the claim of a running call is not extended': {
    options: CALM,
    detectedBy: 'asks',
    ledger: (store, context) => ({
      ...store,
      commit: ledgerWrite(store.commit, (write) => !isExtension(write, context)),
    }),
  },
  'a call that must not be repeated is repeated': { options: CRASHES, detectedBy: 'asks', ...unseen('once') },
  'a call that waits for an operator is made': { options: FLIPS, detectedBy: 'asks', ...unseen('changes') },
  'the clock of the fetcher is fast': {
    options: CALM,
    detectedBy: 'asks',
    clock: (clock) => ({ ...clock, now: () => clock.now() + 5_000 }),
  },
  'a withdrawn ask stays': {
    options: CALM,
    ...writing((write) => ('remove' in write && write.remove.PK.startsWith('ASK#') ? [] : [write])),
  },
}
