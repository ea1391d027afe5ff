import { hash } from 'node:crypto'
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

/** A text without repetition, so that a part of it identifies it. */
const secretText = (name: string): string => hash('sha256', name, 'hex')

/** True if the file contains a part of the text, in clear or in base64. */
const traces = (path: string, text: string): boolean => {
  const content = readFileSync(path, 'latin1')
  const parts = [text, Buffer.from(text).toString('base64')].flatMap((form) =>
    Array.from({ length: 4 }, (_, index) => form.slice(index * 12, index * 12 + 12)),
  )
  return parts.some((part) => content.includes(part))
}

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

  test('contains no character of an old, a dropped or a destroyed secret', async () => {
    const { path, remove } = await inFolder()
    const store = await openKeyFileStore({ path, mode: 'write', found })
    const [first, second, long] = [secretText('first'), secretText('second'), secretText('long').repeat(40)]
    await store.secrets.write('ann', 'token', { expect: 0, value: first })
    expect(traces(path, first)).toBe(true)
    await store.secrets.write('ann', 'token', { expect: 1, value: second })
    expect([traces(path, first), traces(path, second)]).toEqual([false, true])
    await store.secrets.write('ann', 'token', { expect: 2, value: long })
    expect([traces(path, second), traces(path, long)]).toEqual([false, true])
    await store.secrets.drop('ann', 'token')
    expect(traces(path, long)).toBe(false)
    await store.secrets.write('ann', 'token', { expect: 0, value: first })
    await store.secrets.write('ann', 'other', { expect: 0, value: second })
    await store.step('ann', 'destroyed')
    expect([traces(path, first), traces(path, second)]).toEqual([false, false])
    await store.close()
    await remove()
  })

  test('does not grow with the versions of a secret', async () => {
    const { path, remove } = await inFolder()
    const store = await openKeyFileStore({ path, mode: 'write', found })
    await store.secrets.write('ann', 'token', { expect: 0, value: 'version 1' })
    const size = store.extent?.()
    for (let version = 1; version < 50; version += 1)
      await store.secrets.write('ann', 'token', { expect: version, value: `version ${version + 1}` })
    expect(store.extent?.()).toBe(size)
    expect(await store.secrets.read('ann', 'token')).toEqual({ version: 50, value: 'version 50' })
    await store.close()
    await remove()
  })

  test('after a kill at any byte of the write of a secret, contains the old or the new version, and no trace of the other', async () => {
    const { path, remove } = await inFolder()
    const store = await openKeyFileStore({ path, mode: 'write', found })
    const [older, newer] = [secretText('older'), secretText('newer')]
    await store.secrets.write('ann', 'token', { expect: 0, value: older })
    const before = readFileSync(path)
    await store.secrets.write('ann', 'token', { expect: 1, value: newer })
    await store.close()
    const after = readFileSync(path)
    const middle = before.lastIndexOf('","')
    const cuts = Array.from(after.keys()).filter((at) => after[at] !== before[at])
    // First the new version is written into the second slot, then the first slot is blanked.
    const written = Buffer.concat([before.subarray(0, middle), after.subarray(middle)])
    const states = cuts.map((at) =>
      at > middle
        ? ([Buffer.concat([written.subarray(0, at), before.subarray(at)]), older, newer] as const)
        : ([Buffer.concat([after.subarray(0, at), written.subarray(at)]), newer, older] as const),
    )
    expect(states.length).toBeGreaterThan(100)
    for (const [state, kept, gone] of states) {
      writeFileSync(path, state)
      const again = await openKeyFileStore({ path, mode: 'write' })
      expect((await again.secrets.read('ann', 'token'))?.value).toBe(kept)
      expect([traces(path, kept), traces(path, gone)]).toEqual([true, false])
      await again.close()
    }
    await remove()
  })

  test('after a kill before a destroyed secret is blanked, the next start blanks it', async () => {
    const { path, remove } = await inFolder()
    const store = await openKeyFileStore({ path, mode: 'write', found })
    const value = secretText('value')
    await store.secrets.write('ann', 'token', { expect: 0, value })
    await store.close()
    appendFileSync(path, '{"of":"ann","step":"destroyed"}\n')
    expect(traces(path, value)).toBe(true)
    await (await openKeyFileStore({ path, mode: 'write' })).close()
    expect(traces(path, value)).toBe(false)
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
