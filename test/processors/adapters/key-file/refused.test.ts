import fs from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openKeyFileStore } from '../../../../processors/adapters/key-file/store.ts'
import { isFault } from '../../../../schemas/fault.ts'

const { fdatasyncSync } = fs

/** Replaces fdatasync of `node:fs`, by a function that fails or by the original one. */
const setSync = (sync: typeof fdatasyncSync): void => {
  Object.assign(fs, { fdatasyncSync: sync })
  syncBuiltinESMExports()
}

const failingDisk = (): void =>
  setSync(() => {
    throw Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' })
  })

const opened = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-keys-'))
  onTestFinished(async () => {
    setSync(fdatasyncSync)
    await rm(folder, { recursive: true })
  })
  const path = join(folder, 'people.jsonl')
  return {
    path,
    store: await openKeyFileStore({
      path,
      mode: 'write',
      found: () => Promise.resolve({ id: 'one', plainBefore: {} }),
    }),
  }
}

const expectRejected = async (work: Promise<unknown>): Promise<void> => {
  await expect(work).rejects.toSatisfy((error) => isFault(error, 'key-store-unavailable') && error.retriable)
  setSync(fdatasyncSync)
}

test('a key that the disk rejects is not acknowledged and can be created later', async () => {
  const { path, store } = await opened()
  failingDisk()
  await expectRejected(store.ensureKeys(new Map([['ann', []]])))
  expect(await store.load(['ann'])).toEqual([undefined])
  await store.ensureKeys(new Map([['ann', []]]))
  const [ann] = await store.load(['ann'])
  await store.close()
  const again = await openKeyFileStore({ path, mode: 'read' })
  expect(await again.load(['ann'])).toEqual([ann])
  await again.close()
})

test('a key that the disk rejects leaves no bytes before the next key', async () => {
  const { path, store } = await opened()
  failingDisk()
  await expectRejected(
    store.ensureKeys(
      new Map([
        ['somebody with a long name', []],
        ['carl', []],
      ]),
    ),
  )
  await store.ensureKeys(new Map([['bob', []]]))
  const [bob] = await store.load(['bob'])
  await store.close()
  const again = await openKeyFileStore({ path, mode: 'read' })
  expect(await again.load(['somebody with a long name', 'carl', 'bob'])).toEqual([undefined, undefined, bob])
  await again.close()
})
