import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { RootDatabase } from 'lmdb'
import { syncPath } from '../sync-path.ts'
import { dataFile, openBinary, openEnvironment } from './environment.ts'

const COPY = 'scrub-'
const PAGE = 2_000

/** What former scrubs left: one that was cut off its half of a file, others the lock that they had until their process ended. */
export const removeScrubs = (path: string): void => {
  if (!existsSync(path)) return
  for (const name of readdirSync(path)) if (name.startsWith(COPY)) rmSync(join(path, name), { recursive: true, force: true })
}

/**
 * Writes what an environment holds into a new one, entry by entry, whose file then takes the place of the old one's; the answer is the new
 * one, open. LMDB never overwrites: freed pages keep what was in them until they are used again, and pages in use keep what was in the room
 * between their entries. Its own compaction copies pages as they are, so it takes away the first and not the second.
 */
export const scrubbed = async (root: RootDatabase, path: string): Promise<RootDatabase> => {
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
    const page = [...from.getRange({ ...(last === undefined ? {} : { start: last, exclusiveStart: true }), limit: PAGE })]
    if (page.length > 0) await copy.batch(() => page.forEach(({ key, value }) => void to.put(key, value)))
    if (page.length < PAGE) return
    last = Buffer.from((page.at(-1) as { key: Uint8Array }).key)
  }
}
