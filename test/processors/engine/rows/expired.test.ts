import { expect, test } from 'vitest'
import { createAskClaims } from '../../../../processors/engine/asks/claims.ts'
import { createLedger, REMEMBERED_MS, sentKey } from '../../../../processors/engine/outgoing/ledger.ts'
import { removeExpired } from '../../../../processors/engine/rows/expired.ts'
import { memoryStore } from '../../../../testing/memory-store.ts'
import { virtualClock } from '../virtual-clock.ts'

test('the ledger forgets what was sent after 400 days, but no ask that says once or was released, and no open claim', async () => {
  const [store, clock] = [memoryStore(), virtualClock()]
  const parts = { store, clock, processName: 'p' }
  const [ledger, claims] = [createLedger(parts), createAskClaims(parts)]
  const position = { partition: 0, offset: 3 }
  await ledger.once('event', async () => position)
  await claims.claim({ id: 'ask' })
  await claims.settle({ id: 'ask' }, position)
  await claims.settle({ id: 'once', once: true }, position)
  await claims.release({ id: 'released' })
  await claims.settle({ id: 'released' }, position)
  await claims.claim({ id: 'open' })
  const remembered = async () => {
    await removeExpired(store, { ttl: 'ttl', now: clock.now(), signal: new AbortController().signal })
    const ids = ['event', 'ask', 'once', 'released', 'open']
    const found = await store.load(ids.map(sentKey))
    return ids.filter((_, index) => found[index] !== undefined)
  }
  await clock.pass(REMEMBERED_MS - 1_000)
  expect(await remembered()).toEqual(['event', 'ask', 'once', 'released', 'open'])
  await clock.pass(1_000)
  expect(await remembered()).toEqual(['once', 'released', 'open'])
})
