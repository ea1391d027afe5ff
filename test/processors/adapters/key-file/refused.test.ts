import type * as Fs from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openKeyFileStore } from '../../../../processors/adapters/key-file/store.ts'
import { isFault } from '../../../../schemas/fault.ts'

/** Whether the disk refuses to sync. */
const disk = vi.hoisted(() => ({ fails: false }))

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof Fs>()
  return {
    ...fs,
    fdatasyncSync: (fd: number) => {
      if (disk.fails) throw Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' })
      fs.fdatasyncSync(fd)
    },
  }
})

const opened = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-keys-'))
  onTestFinished(async () => {
    disk.fails = false
    await rm(folder, { recursive: true })
  })
  const path = join(folder, 'people.jsonl')
  return { path, store: await openKeyFileStore({ path, mode: 'write', found: () => Promise.resolve({ id: 'one', plainBefore: {} }) }) }
}

const refused = async (work: Promise<unknown>): Promise<void> => {
  await expect(work).rejects.toSatisfy((error) => isFault(error, 'key-store-unavailable') && error.retriable)
  disk.fails = false
}

test('a key that the disk refuses is not acknowledged, and can be kept later', async () => {
  const { path, store } = await opened()
  disk.fails = true
  await refused(store.keep(new Map([['ann', []]])))
  expect(await store.load(['ann'])).toEqual([undefined])
  await store.keep(new Map([['ann', []]]))
  const [ann] = await store.load(['ann'])
  await store.close()
  const again = await openKeyFileStore({ path, mode: 'read' })
  expect(await again.load(['ann'])).toEqual([ann])
  await again.close()
})

test('a key that the disk refuses leaves nothing that the next one runs into', async () => {
  const { path, store } = await opened()
  disk.fails = true
  await refused(store.keep(new Map([['somebody with a long name', []], ['carl', []]])))
  await store.keep(new Map([['bob', []]]))
  const [bob] = await store.load(['bob'])
  await store.close()
  const again = await openKeyFileStore({ path, mode: 'read' })
  expect(await again.load(['somebody with a long name', 'carl', 'bob'])).toEqual([undefined, undefined, bob])
  await again.close()
})
