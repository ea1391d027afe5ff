import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'

const folders: string[] = []
const cleanups: (() => Promise<void>)[] = []

/** Creates a folder that is removed when the test ends. */
export const scratch = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-lmdb-'))
  folders.push(folder)
  return folder
}

/** Runs the work when the test ends, before the folders of the test are removed. Work that was added last runs first. */
export const later = (work: () => Promise<void>): void => void cleanups.push(work)

afterEach(async () => {
  const errors: unknown[] = []
  // After an error the other cleanups still run: a disk that stays mounted would outlive the tests.
  for (let work = cleanups.pop(); work !== undefined; work = cleanups.pop())
    await work().catch((error: unknown) => errors.push(error))
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
  if (errors.length > 0) throw new AggregateError(errors, 'a cleanup failed')
})
