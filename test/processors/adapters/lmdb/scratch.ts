import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'

const used: string[] = []
const undo: (() => Promise<void>)[] = []

/** A folder that goes when the test ends. */
export const scratch = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-lmdb-'))
  used.push(folder)
  return folder
}

/** Runs when the test ends, last first, before folders go. */
export const later = (work: () => Promise<void>): void => void undo.push(work)

afterEach(async () => {
  const errors: unknown[] = []
  // One that fails keeps none of the others from being undone: a disk that stays mounted outlives the tests.
  for (let work = undo.pop(); work !== undefined; work = undo.pop()) await work().catch((error: unknown) => errors.push(error))
  for (const folder of used.splice(0)) await rm(folder, { recursive: true, force: true })
  if (errors.length > 0) throw new AggregateError(errors, 'not everything could be undone')
})
