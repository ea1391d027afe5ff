import { execFile, spawn } from 'node:child_process'
import {
  closeSync,
  copyFileSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openEnvironment } from '../../processors/adapters/lmdb/environment.ts'
import { lmdbStores } from '../../processors/adapters/lmdb/store.ts'
import { requireCompleteFile } from '../../processors/adapters/lmdb/complete-file.ts'
import { connectionKey, connectionsTable } from '../../producers/scales/connections.ts'
import { counters } from '../processors/adapters/lmdb/counting.ts'

const PAGE_BYTES = 4096

const freshFolder = (): string => {
  const path = mkdtempSync(join(tmpdir(), 'tributary-whole-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** Writes an LMDB environment (a folder with a file) of a few hundred pages and closes it. */
const writeEnvironment = async (): Promise<{ readonly path: string; readonly file: string }> => {
  const path = freshFolder()
  const root = openEnvironment({ path })
  for (let round = 0; round < 5; round += 1)
    await Promise.all(Array.from({ length: 200 }, (_, index) => root.put(`key ${round} ${index}`, 'x'.repeat(2_000))))
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

test('a complete, absent or empty file is accepted', async () => {
  const { file, path } = await writeEnvironment()
  expect(codeOf(() => requireCompleteFile(file))).toBeUndefined()
  expect(codeOf(() => requireCompleteFile(join(path, 'none.mdb')))).toBeUndefined()
  truncateSync(file, 0)
  expect(codeOf(() => requireCompleteFile(file))).toBeUndefined()
})

test('a file that was cut anywhere after its first page is rejected and not mapped', async () => {
  const { file, path } = await writeEnvironment()
  const { size } = statSync(file)
  for (const bytes of [size - 4096, size - 1, Math.floor(size / 2), 3 * 4096, 4096]) {
    truncateSync(file, bytes)
    expect(
      codeOf(() => openEnvironment({ path })),
      `${bytes} of ${size} bytes`,
    ).toBe('data-damaged')
  }
})

test('a file that does not begin with the meta pages of LMDB is rejected', async () => {
  const { file, path } = await writeEnvironment()
  truncateSync(file, 100)
  expect(codeOf(() => openEnvironment({ path }))).toBe('data-damaged')
  writeFileSync(file, Buffer.alloc(64 * 1024, 7))
  expect(codeOf(() => openEnvironment({ path }))).toBe('data-damaged')
})

/** Returns the size in bytes that the file would have with every page that its header counts. The header is the two meta pages of LMDB. */
const countedEnd = (file: string): number => {
  const head = readHead(file)
  return Math.max(...[0, PAGE_BYTES].map((at) => (Number(head.readBigUInt64LE(at + 144)) + 1) * PAGE_BYTES))
}

const readHead = (file: string): Buffer => {
  const copy = Buffer.alloc(2 * PAGE_BYTES)
  const handle = openSync(file, 'r')
  readSync(handle, copy, 0, copy.length, 0)
  closeSync(handle)
  return copy
}

/** Copies the first bytes of an environment's file into a new folder. */
const cutCopy = (file: string, bytes: number): string => {
  const copy = join(freshFolder(), 'data.mdb')
  copyFileSync(file, copy)
  truncateSync(copy, bytes)
  return copy
}

const isAccepted = (file: string, bytes: number): boolean => {
  const copy = cutCopy(file, bytes)
  const code = codeOf(() => requireCompleteFile(copy))
  rmSync(dirname(copy), { recursive: true })
  return code === undefined
}

/** Returns the smallest number of pages at which `requireCompleteFile` accepts the file. It rejects a copy with one page less. */
const smallestAccepted = (file: string): number => {
  let [rejected, accepted] = [1, Math.ceil(statSync(file).size / PAGE_BYTES)]
  while (accepted - rejected > 1) {
    const middle = (rejected + accepted) >> 1
    if (isAccepted(file, middle * PAGE_BYTES)) accepted = middle
    else rejected = middle
  }
  return accepted
}

/** Runs compare.mjs on the pairs of files. Resolves to one line per pair: `same` or the difference. Rejects if LMDB ends that process. */
const compare = async (pairs: readonly (readonly [complete: string, cut: string])[]): Promise<string[]> => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    join(import.meta.dirname, 'compare.mjs'),
    ...pairs.flat().map(dirname),
  ])
  return stdout.trim().split('\n')
}

/** Returns a pair for `compare`: a complete copy of the file, and a copy that is cut to the smallest accepted size. */
const smallestPair = (file: string): readonly [string, string] => [
  cutCopy(file, statSync(file).size),
  cutCopy(file, smallestAccepted(file) * PAGE_BYTES),
]

/**
 * Generates the inputs of a phase. A phase first writes the items `puts`, each with a key and the size of its text, and `together` of them per
 * transaction. Then it removes a range of keys in one transaction. With small items, LMDB assigns new page numbers in the removal and frees these
 * pages in the same transaction. It never writes them, so the file ends before the last page number.
 */
const phaseOf = (...sizes: number[]) =>
  fc.record({
    puts: fc.array(fc.tuple(fc.nat({ max: 150 }), fc.constantFrom(...sizes)), { minLength: 30, maxLength: 120 }),
    together: fc.integer({ min: 1, max: 6 }),
    removed: fc.tuple(fc.nat({ max: 30 }), fc.oneof(fc.constant(150), fc.nat({ max: 150 }))),
  })
const phases = fc.oneof(
  fc.array(phaseOf(10, 50), { minLength: 1, maxLength: 1 }),
  fc.array(phaseOf(10, 200, 900, 3_000, 20_000), { minLength: 1, maxLength: 3 }),
)

describe('an intact file that ends before its last page number', { timeout: 120_000 }, () => {
  test('is opened at the next start after fifty viewers have connected and disconnected', async () => {
    const folder = freshFolder()
    const ids = Array.from({ length: 50 }, (_, index) => `${(index * 7_919) % 1_000}-viewer-${'x'.repeat(20)}`)
    const visit = async (): Promise<void> => {
      const stores = lmdbStores({ folder })
      const store = await stores.create(connectionsTable, 1)
      for (const id of ids) {
        await store.commit([
          [
            [
              {
                put: {
                  ...connectionKey(id),
                  loc_id: 'loc-1',
                  user_id: 'ann',
                  connected_at: new Date(0).toISOString(),
                  expires_at: 1,
                  _pos: 0,
                },
                expect: null,
              },
            ],
          ],
        ])
        await store.sync()
      }
      for (const id of ids) await store.commit([[[{ remove: connectionKey(id), expect: 0 }]]])
      await stores.close()
    }
    await visit()
    const file = join(folder, connectionsTable.name, 'g1', 'data.mdb')
    expect(statSync(file).size).toBeLessThan(countedEnd(file))
    await visit()
  })

  test('is accepted after any puts and removals, and its smallest accepted part contains all entries', async () => {
    const pairs: (readonly [string, string])[] = []
    await fc.assert(
      fc.asyncProperty(phases, async (allPhases) => {
        const folder = freshFolder()
        const stores = lmdbStores({ folder })
        const store = await stores.create(counters, 1)
        const keyOf = (key: number) => ({ PK: `key ${key}`, SK: 'X' })
        for (const {
          puts,
          together,
          removed: [from, count],
        } of allPhases) {
          for (const [index, [key, size]] of puts.entries()) {
            await store.commit([
              [
                [
                  {
                    put: { ...keyOf(key), all: 'all', count: `${size}`, text: 'x'.repeat(size), _pos: 0 },
                    expect: store.peek(keyOf(key))?._pos ?? null,
                  },
                ],
              ],
            ])
            if (index % together === 0) await store.sync()
          }
          await store.sync()
          for (let key = from; key < from + count; key += 1)
            if (store.peek(keyOf(key)) !== undefined) await store.commit([[[{ remove: keyOf(key), expect: 0 }]]])
          await store.sync()
        }
        await stores.close()
        const file = join(folder, counters.name, 'g1', 'data.mdb')
        expect(codeOf(() => requireCompleteFile(file))).toBeUndefined()
        pairs.push(smallestPair(file))
      }),
      { numRuns: 25, endOnFailure: true },
    )
    expect(new Set(await compare(pairs))).toEqual(new Set(['same']))
  })

  test('is accepted after stops and kills, and rejected without a page that LMDB needs', async () => {
    const folder = freshFolder()
    const pairs: (readonly [string, string])[] = []
    for (const [seed, end] of ['stop', 'kill', 'kill', 'stop'].entries()) {
      await churn(folder, seed + 1, end)
      for (const file of environmentsIn(folder)) {
        expect(
          codeOf(() => requireCompleteFile(file)),
          `${file} after ${end} ${seed}`,
        ).toBeUndefined()
        const pair = smallestPair(file)
        pairs.push(pair)
        const less = cutCopy(file, statSync(pair[1]).size - 1)
        expect(codeOf(() => openEnvironment({ path: dirname(less) }))).toBe('data-damaged')
      }
    }
    expect(new Set(await compare(pairs))).toEqual(new Set(['same']))
    // LMDB fails if the file is one page shorter than the smallest accepted size. So that size is not larger than necessary.
    const [complete = '', cut = ''] = smallestPair(join(folder, 'log', 'data.mdb'))
    truncateSync(cut, statSync(cut).size - PAGE_BYTES)
    expect(await compare([[complete, cut]]).catch(() => ['failed'])).not.toEqual(['same'])
  })
})

/** Runs churn.ts. If `end` is `kill`, kills the process after one of its rounds, which depends on the seed. Otherwise the process ends by itself. */
const churn = async (folder: string, seed: number, end: string): Promise<void> => {
  const child = spawn(
    process.execPath,
    [
      '--import',
      join(import.meta.dirname, '..', 'from-source.mjs'),
      join(import.meta.dirname, 'churn.ts'),
      folder,
      String(seed),
      '8',
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve))
  for await (const line of createInterface({ input: child.stdout }))
    if (end === 'kill' && Number(line) === 1 + seed) child.kill('SIGKILL')
  expect(await closed).toBe(end === 'kill' ? null : 0)
}

const environmentsIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('data.mdb') && !name.includes('scrub-'))
    .map((name) => join(folder, name))
