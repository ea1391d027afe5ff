import type { LogRecord } from '../../../../processors/engine/ports/log.ts'
import type { Store, Write } from '../../../../processors/engine/ports/store.ts'
import type { Stored } from '../../../../projections/item.ts'
import type { TableSpec } from '../../../../projections/table.ts'

/** A table that counts records by key. Its index sorts the counters by their counts. */
export const counters: TableSpec = {
  name: 'counters',
  ttl: 'ttl',
  indexes: [{ name: 'BY', pk: 'all', sk: 'count', project: 'all' }],
}

export const sortable = (count: number): string => String(count).padStart(9, '0')

export const fold = async (store: Store, records: readonly LogRecord[]): Promise<void> => {
  const keys = [...new Set(records.map(({ key }) => key ?? ''))]
  const before = await store.load(keys.map((key) => ({ PK: key, SK: 'COUNT' })))
  const spans = keys.map((key, index) => [[countUp(key, before[index], records)]])
  const outcomes = await store.commit(spans, {
    partition: 0,
    from: records[0]?.offset ?? 0,
    offset: (records.at(-1)?.offset ?? -1) + 1,
  })
  if (outcomes.some(({ applied }) => applied !== 'all')) throw new Error('another writer counted')
}

const countUp = (key: string, before: Stored | undefined, records: readonly LogRecord[]): Write => {
  const own = records.filter((record) => record.key === key)
  const count = Number(before?.['count'] ?? 0) + own.length
  const put = { PK: key, SK: 'COUNT', all: 'all', count: sortable(count), _pos: own.at(-1)?.offset ?? -1 }
  return { put, expect: before?._pos ?? null }
}
