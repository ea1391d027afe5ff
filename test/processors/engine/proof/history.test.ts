import { expect, test } from 'vitest'
import { keyOf } from '../../../../projections/item.ts'
import { advance } from '../../../../processors/engine/fold/advance.ts'
import { build } from '../../../../processors/engine/rebuild/build.ts'
import { historyOf, type ExplainedEvent } from '../../../../processors/engine/proof/history.ts'
import type { Log } from '../../../../processors/engine/ports/log.ts'
import type { Codec } from '../../../../schemas/codec.ts'
import { DERIVED_SOURCE, type Event } from '../../../../schemas/event.ts'
import { jsonPacking } from '../../../../simulation/json-packing.ts'
import { accountKey, accounts, activity, eventOf, logRecords, jsonCodec, ledger, paid, paymentKey } from '../ledger.ts'
import { memoryStore } from '../../../../testing/memory-store.ts'
import { memoryTarget } from '../memory-target.ts'

const logOf = (events: readonly Event[], broken = -1): Pick<Log, 'readKey'> => ({
  async *readKey(key) {
    const records = events.map((event, offset) => ({
      partition: 0,
      offset,
      key: event.meta.key,
      timestamp: 0,
      value: offset === broken ? Buffer.from('{') : jsonCodec.encode(event),
    }))
    yield records.filter((record) => record.key === key)
  },
})

const explained = async (
  events: readonly Event[],
  broken?: number,
  codec: Codec = jsonCodec,
): Promise<readonly ExplainedEvent[]> => {
  const all: ExplainedEvent[] = []
  for await (const steps of historyOf({ domain: ledger, codec, log: logOf(events, broken), key: 'a' })) all.push(steps)
  return all
}

const totals = (steps: readonly ExplainedEvent[]) =>
  steps.flatMap(({ offset, changes }) =>
    changes
      .filter(({ SK }) => SK === 'TOTAL')
      .map(({ before, after }) => [offset, before?.['total'], after?.['total']]),
  )

test('every event of the key is reported with its changes, and no event of other keys', async () => {
  const steps = await explained([paid(5, 'p'), paid(1, 'x', { key: 'b' }), paid(2, 'q')])
  expect(steps.map(({ offset }) => offset)).toEqual([0, 2])
  expect(totals(steps)).toEqual([
    [0, undefined, 5],
    [2, 5, 7],
  ])
})

test('a refused event is reported with its refusal and changes only its outcome row', async () => {
  const steps = await explained([paid(5, 'p'), paid(-9, 'q')])
  expect(steps[1]?.outcome).toMatchObject({ kind: 'refused', refusal: { code: 'overdrawn' } })
  expect(steps[1]?.changes.map(({ PK }) => PK).filter((pk) => pk.startsWith('ACCOUNT'))).toEqual([])
})

test('a removal is reported as a removal', async () => {
  const steps = await explained([paid(5, 'p'), eventOf('Closed', {}, { id: 'c' })])
  expect(steps[1]?.changes).toContainEqual(expect.objectContaining({ ...accountKey('a'), after: undefined }))
})

test('a projection is reported as parked from an event on that it cannot fold, and the others continue', async () => {
  const steps = await explained([paid(5, 'p'), eventOf('Broke', {}, { id: 'x' }), paid(1, 'q')])
  expect(steps.map(({ outcome }) => outcome.kind)).toEqual(['applied', 'parked', 'parked'])
  expect(steps[2]?.changes.map(({ PK }) => PK)).toEqual(['ACTIVITY#a'])
})

test('a key is reported as parked from an event on that cannot be read', async () => {
  const steps = await explained([paid(5, 'p'), paid(1, 'q'), paid(2, 'r')], 1)
  expect(steps.map(({ outcome }) => outcome.kind)).toEqual(['applied', 'parked', 'parked'])
  expect(steps.slice(1).flatMap(({ changes }) => changes)).toEqual([])
})

test('an event whose derived event cannot be encoded is parked, as in a build', async () => {
  const encode: Codec['encode'] = (event) => {
    if (event.meta.source === DERIVED_SOURCE) throw new Error('no schema for it')
    return jsonCodec.encode(event)
  }
  const codec = { ...jsonCodec, encode }
  const events = [paid(5, 'p'), eventOf('Moved', { to: 'b', amount: 4 }, { id: 'm' }), paid(1, 'q')]
  const steps = await explained(events, undefined, codec)
  expect(steps.map(({ outcome }) => outcome)).toMatchObject([
    { kind: 'applied' },
    { kind: 'parked', reason: 'no schema for it' },
    { kind: 'parked', behind: true },
  ])
  expect(totals(steps)).toEqual([[0, undefined, 5]])
  const read = () => logOf(events).readKey('a')
  const { parked } = await build({
    domain: ledger,
    log: { read },
    codec,
    target: memoryTarget(memoryStore(), jsonPacking()),
    ends: new Map([[0, events.length]]),
  })
  expect(parked).toMatchObject([{ offset: 1, reason: 'no schema for it' }])
})

test('the items at the end of the history equal the stored items', async () => {
  const events = [paid(5, 'p'), paid(2, 'q'), paid(-3, 'r'), paid(2, 'q')]
  const store = memoryStore()
  await advance({
    store,
    spans: [accounts, activity].map((decider) => ({ decider, key: 'a', events: logRecords(events) })),
  })
  const items = new Map(
    (await explained(events)).flatMap(({ changes }) => changes.map((change) => [keyOf(change), change.after] as const)),
  )
  for (const key of [accountKey('a'), paymentKey('a', 'p'), { PK: 'ACTIVITY#a', SK: 'COUNT' }])
    expect(items.get(keyOf(key))).toEqual(store.items.get(keyOf(key)))
})
