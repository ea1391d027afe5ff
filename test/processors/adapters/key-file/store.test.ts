import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openKeyFileStore } from '../../../../processors/adapters/key-file/store.ts'
import { isFault } from '../../../../schemas/fault.ts'
import { keyStoreContract } from '../../../contracts/key-store.ts'

const inFolder = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-keys-'))
  return { path: join(folder, 'keys', 'people.jsonl'), remove: () => rm(folder, { recursive: true, force: true }) }
}

keyStoreContract('one file', async () => {
  const { path, remove } = await inFolder()
  return { open: (found) => openKeyFileStore({ path, mode: 'write', ...(found && { found }) }), cleanup: remove }
})

const found = () => Promise.resolve({ id: 'one', plainBefore: {} })
const ann = new Map([['ann', [{ domain: 'meals', key: 'ann' }]]])

describe('the key file', () => {
  test('contains no digit of a destroyed key, and the other keys are unchanged', async () => {
    const { path, remove } = await inFolder()
    const store = await openKeyFileStore({ path, mode: 'write', found })
    await store.ensureKeys(ann)
    await store.ensureKeys(new Map([['bob', []]]))
    const [before, bob] = await store.load(['ann', 'bob'])
    const hex = Buffer.from(before?.key?.bytes ?? []).toString('hex')
    expect(readFileSync(path, 'utf8')).toContain(hex)
    await store.step('ann', 'destroyed')
    expect(readFileSync(path, 'utf8')).not.toContain(hex)
    expect(await store.load(['bob'])).toEqual([bob])
    await store.close()
    await remove()
  })

  test('after a kill before the erasure of a destroyed key, the next start erases the key', async () => {
    const { path, remove } = await inFolder()
    const store = await openKeyFileStore({ path, mode: 'write', found })
    await store.ensureKeys(ann)
    const hex = Buffer.from((await store.load(['ann']))[0]?.key?.bytes ?? []).toString('hex')
    await store.close()
    appendFileSync(path, '{"of":"ann","step":"destroyed"}\n')
    expect(readFileSync(path, 'utf8')).toContain(hex)
    await (await openKeyFileStore({ path, mode: 'write' })).close()
    expect(readFileSync(path, 'utf8')).not.toContain(hex)
    await remove()
  })

  test('a line that a crash cut off at any byte is removed', async () => {
    const { path, remove } = await inFolder()
    const store = await openKeyFileStore({ path, mode: 'write', found })
    await store.ensureKeys(ann)
    const before = await store.load(['ann'])
    const shorter = readFileSync(path)
    await store.ensureKeys(new Map([['bob', []]]))
    await store.close()
    const longer = readFileSync(path)
    for (let size = shorter.length; size < longer.length; size += 7) {
      writeFileSync(path, longer)
      truncateSync(path, size)
      const again = await openKeyFileStore({ path, mode: 'write' })
      expect(await again.load(['ann', 'bob'])).toEqual([...before, undefined])
      await again.ensureKeys(new Map([['carl', []]]))
      expect((await again.load(['carl']))[0]?.key).toBeDefined()
      await again.close()
    }
    await remove()
  })

  test('a file that is shorter than before is rejected and not changed', async () => {
    const { path, remove } = await inFolder()
    const store = await openKeyFileStore({ path, mode: 'write', found })
    await store.ensureKeys(ann)
    const least = store.extent?.() ?? 0
    await store.close()
    await (await openKeyFileStore({ path, mode: 'write', least })).close()
    const cut = readFileSync(path, 'utf8').split('\n')[0] ?? ''
    writeFileSync(path, `${cut}\n`)
    await expect(openKeyFileStore({ path, mode: 'write', least })).rejects.toSatisfy((error) =>
      isFault(error, 'key-store-cut'),
    )
    expect(readFileSync(path, 'utf8')).toBe(`${cut}\n`)
    await remove()
  })

  test('a reader in parallel to the writer gets new people and no destroyed key', async () => {
    const { path, remove } = await inFolder()
    const writer = await openKeyFileStore({ path, mode: 'write', found })
    const reader = await openKeyFileStore({ path, mode: 'read' })
    expect(reader.peek?.('ann')).toBeUndefined()
    await writer.ensureKeys(ann)
    expect(reader.peek?.('ann')).toEqual(writer.peek?.('ann'))
    await writer.step('ann', 'destroyed')
    expect(reader.peek?.('ann')?.key).toBeUndefined()
    await Promise.all([writer.close(), reader.close()])
    await remove()
  })

  test('a file that is damaged in the middle is rejected and not changed', async () => {
    const { path, remove } = await inFolder()
    const store = await openKeyFileStore({ path, mode: 'write', found })
    await store.ensureKeys(ann)
    await store.close()
    const damaged = readFileSync(path, 'utf8').replace('{"of":"ann","key"', '{"of"."ann","key"')
    writeFileSync(path, damaged)
    await expect(openKeyFileStore({ path, mode: 'write' })).rejects.toSatisfy((error) =>
      isFault(error, 'key-store-damaged'),
    )
    expect(readFileSync(path, 'utf8')).toBe(damaged)
    await remove()
  })
})
