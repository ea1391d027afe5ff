import { mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openEnvironment } from '../../../../processors/adapters/lmdb/environment.ts'
import { requireWhole } from '../../../../processors/adapters/lmdb/whole.ts'

/** An environment of a few hundred pages, closed again. */
const written = async (): Promise<{ readonly path: string; readonly file: string }> => {
  const path = mkdtempSync(join(tmpdir(), 'tributary-whole-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  const root = openEnvironment({ path })
  for (let round = 0; round < 5; round += 1) await Promise.all(Array.from({ length: 200 }, (_, index) => root.put(`key ${round} ${index}`, 'x'.repeat(2_000))))
  await root.close()
  return { path, file: join(path, 'data.mdb') }
}

const codeOf = (work: () => void): string | undefined => {
  try {
    work()
    return undefined
  } catch (error) {
    return (error as { code?: string }).code
  }
}

test('a file that is whole, absent or not yet begun is opened', async () => {
  const { file, path } = await written()
  expect(codeOf(() => requireWhole(file))).toBeUndefined()
  expect(codeOf(() => requireWhole(join(path, 'none.mdb')))).toBeUndefined()
  truncateSync(file, 0)
  expect(codeOf(() => requireWhole(file))).toBeUndefined()
})

test('a file cut anywhere behind its first page is refused instead of mapped', async () => {
  const { file, path } = await written()
  const { size } = statSync(file)
  for (const bytes of [size - 4096, size - 1, Math.floor(size / 2), 3 * 4096, 4096]) {
    truncateSync(file, bytes)
    expect(codeOf(() => openEnvironment({ path })), `${bytes} of ${size} bytes`).toBe('data-damaged')
  }
})

test('a file that does not begin as LMDB\'s do is refused', async () => {
  const { file, path } = await written()
  truncateSync(file, 100)
  expect(codeOf(() => openEnvironment({ path }))).toBe('data-damaged')
  writeFileSync(file, Buffer.alloc(64 * 1024, 7))
  expect(codeOf(() => openEnvironment({ path }))).toBe('data-damaged')
})
