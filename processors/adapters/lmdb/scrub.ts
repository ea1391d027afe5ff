import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { RootDatabase } from 'lmdb'
import { syncPath } from '../sync-path.ts'
import { dataFile, openBinary, openEnvironment } from './environment.ts'

const COPY = 'scrub-'
const PAGE = 2_000

/** Removes the folders of earlier calls of `rewriteEnvironment`. They contain an unfinished copy after a crash, otherwise only LMDB's lock file. */
export const removeUnfinishedScrubs = (path: string): void => {
  if (!existsSync(path)) return
  for (const name of readdirSync(path))
    if (name.startsWith(COPY)) rmSync(join(path, name), { recursive: true, force: true })
}

/**
 * Copies an environment entry by entry into a new one, replaces the old file by the new one, and returns the new environment, open. The new file
 * contains nothing that was overwritten or removed. LMDB never erases: freed pages keep their content until they are used again, and used pages
 * keep old bytes between their entries. LMDB's own compaction copies whole pages, so it removes the freed pages only.
 */
export const rewriteEnvironment = async (root: RootDatabase, path: string): Promise<RootDatabase> => {
  const folder = mkdtempSync(join(path, COPY))
  const copy = openEnvironment({ path: folder })
  try {
    for (const name of [...root.getKeys()].map(String)) await copyDatabase(name, root, copy)
    await copy.flushed
    renameSync(dataFile(folder), dataFile(path))
    syncPath(path)
    return copy
  } catch (error) {
    await copy.close().catch(() => undefined)
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

const copyDatabase = async (name: string, root: RootDatabase, copy: RootDatabase): Promise<void> => {
  const [from, to] = [openBinary(root, name), openBinary(copy, name)]
  for (let last: Uint8Array | undefined; ;) {
    const page = [
      ...from.getRange({ ...(last === undefined ? {} : { start: last, exclusiveStart: true }), limit: PAGE }),
    ]
    if (page.length > 0) await copy.batch(() => page.forEach(({ key, value }) => void to.put(key, value)))
    if (page.length < PAGE) return
    last = Buffer.from((page.at(-1) as { key: Uint8Array }).key)
  }
}
