import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { lmdbStores } from '../../../../processors/adapters/lmdb/store.ts'
import { advance } from '../../../../processors/engine/fold/advance.ts'
import { verify, type Verified } from '../../../../processors/engine/proof/verify.ts'
import { keyOf, type Stored } from '../../../../projections/item.ts'
import type { Event } from '../../../../schemas/event.ts'
import { accountKey, accounts, activity, logRecords, jsonCodec, ledger, paid } from '../ledger.ts'
import { memoryLog } from '../memory-log.ts'
import { memoryStore } from '../../../../testing/memory-store.ts'

const world = () => {
  const [log, store] = [memoryLog(), memoryStore()]
  const folder = mkdtempSync(join(tmpdir(), 'tributary-verify-'))
  const stores = lmdbStores({ folder })
  onTestFinished(async () => {
    await stores.close()
    rmSync(folder, { recursive: true, force: true })
  })
  let now = 1_000
  let during: () => Promise<void> = async () => undefined
  /** Appends events and folds them into the items, without a new checkpoint: in a remote store, the checkpoint is written in a separate step. */
  const append = async (...events: readonly Event[]) => {
    const first = log.records.length
    log.add(...events)
    await advance({
      store,
      spans: [accounts, activity].map((decider) => ({ decider, key: 'a', events: logRecords(events, first) })),
    })
  }
  return {
    store,
    append,
    checkpoint: async () => void (await store.setCheckpoint(log.records.length)),
    /** Sets the work that runs each time when the verification waits. */
    whileItWaits: (work: () => Promise<void>) => (during = work),
    tamper: (change: object) => {
      const id = keyOf(accountKey('a'))
      store.items.set(id, { ...(store.items.get(id) as Stored), ...change })
    },
    verify: async (): Promise<Verified> => {
      const clock = {
        now: () => now,
        sleep: async (ms: number) => {
          now += ms
          await during()
        },
      }
      return verify({
        domain: ledger,
        codec: jsonCodec,
        log,
        store,
        clock,
        scratch: await stores.create(ledger.table, 1),
      })
    },
  }
}

test('items that are ahead of their checkpoint are no difference, with and without a running processor', async () => {
  const one = world()
  await one.append(paid(1, 'p'))
  await one.checkpoint()
  await one.append(paid(2, 'q'))
  one.whileItWaits(one.checkpoint)
  expect(await one.verify()).toMatchObject({ differences: [], moving: 0 })

  const other = world()
  await other.append(paid(1, 'p'), paid(2, 'q'))
  expect(await other.verify()).toMatchObject({ differences: [], moving: 0 })
})

test('an item that changes during its comparison is not reported', async () => {
  const { append, checkpoint, whileItWaits, verify: verified } = world()
  await append(paid(1, 'p'))
  await checkpoint()
  await append(paid(1, 'q'))
  let index = 0
  whileItWaits(async () => {
    await checkpoint()
    await append(paid(1, `r${(index += 1)}`))
  })
  expect((await verified()).differences).toEqual([])
})

test('verify does not wait for a processor that is far behind', async () => {
  const { store, append, whileItWaits, verify: verified } = world()
  await append(...Array.from({ length: 2_000 }, (_, index) => paid(1, `p${index}`)))
  let waits = 0
  whileItWaits(async () => void (await store.setCheckpoint((waits += 1))))
  expect((await verified()).differences).toEqual([])
  expect(waits).toBeLessThan(1_000)
})

test('a wrong total is reported, although its account changes all the time', async () => {
  const { append, checkpoint, whileItWaits, tamper, verify: verified } = world()
  await append(paid(5, 'p'))
  tamper({ total: 1_000 })
  await checkpoint()
  let index = 0
  whileItWaits(async () => {
    await append(paid(1, `r${(index += 1)}`))
    await checkpoint()
  })
  expect((await verified()).differences).toMatchObject([{ kind: 'changed', ...accountKey('a') }])
})

test('a wrong position, a missing and an extra item are reported, and nothing else', async () => {
  const { store, append, checkpoint, tamper, verify: verified } = world()
  await append(paid(5, 'p'), paid(6, 'q'))
  await checkpoint()
  tamper({ _pos: 0 })
  store.items.delete(keyOf({ PK: 'ACCOUNT#a', SK: 'PAID#p' }))
  const extra = { PK: 'ACCOUNT#z', SK: 'TOTAL', total: 1, _pos: 0 }
  store.items.set(keyOf(extra), extra)
  const { differences } = await verified()
  expect(differences.map(({ kind, PK, SK }) => `${kind} ${PK} ${SK}`).sort()).toEqual([
    'changed ACCOUNT#a TOTAL',
    'extra ACCOUNT#z TOTAL',
    'missing ACCOUNT#a PAID#p',
  ])
})

test('an item of which the table has only the tombstone is reported as missing', async () => {
  const { store, append, checkpoint, verify: verified } = world()
  await append(paid(5, 'p'))
  await checkpoint()
  const key = { PK: 'ACCOUNT#a', SK: 'PAID#p' }
  store.items.set(keyOf(key), { ...key, _removed: true, _pos: 0 })
  expect((await verified()).differences).toMatchObject([{ kind: 'missing', ...key }])
})
