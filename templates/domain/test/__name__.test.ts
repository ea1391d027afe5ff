import { domainContract, eventOf, foldsOf, simulateDomain } from 'tributary/testing'
import { test } from 'vitest'
import type { EntryAdded, EntryRemoved } from '../src/generated/__name__.ts'
import record from '../src/record.ts'

const { given } = foldsOf(record.domain)

const added = (entryId: string, amount = 10): EntryAdded =>
  eventOf<EntryAdded>('EntryAdded', { key: 'ada', data: { entryId, amount }, personal: { note: 'lunch' } })
const removed = (entryId: string): EntryRemoved =>
  eventOf<EntryRemoved>('EntryRemoved', { key: 'ada', data: { entryId } })

test('an entry is added to the summary', () => {
  given(added('e1', 10))
    .when(added('e2', 5))
    .then({ 'USER#ada / ENTRY#e2': { amount: 5, note: 'lunch' }, 'USER#ada / SUMMARY': { entries: 2, total: 15 } })
})

test('the summary does not count a removed entry', () => {
  given(added('e1', 10))
    .when(removed('e1'))
    .then({ 'USER#ada / ENTRY#e1': null, 'USER#ada / SUMMARY': { entries: 0, total: 0 } })
})

test('the same entry twice is harmless, also after it was removed', () => {
  given(added('e1')).when(added('e1')).thenDuplicate()
  given(added('e1'), removed('e1')).when(added('e1')).thenDuplicate()
})

test('an entry that does not exist cannot be removed', () => {
  given()
    .when(removed('e1'))
    .thenRefused('entry-not-found', /no entry e1/)
})

/**
 * Tests what the engine and the edge require of every domain, for example that repeated events change nothing and that bad input is refused.
 * `pools`: the keys and the values of fields from which the suite makes random events. Use few, so that the events meet each other.
 */
domainContract({ record, pools: { keys: ['ada', 'bob'], fields: () => ({ entryId: ['e1', 'e2'], amount: [1, 500] }) } })

test('the items are correct after crashes, repeated events and lost answers', { timeout: 60_000 }, async () => {
  await simulateDomain(record, { seeds: 50 })
})
