import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, onTestFinished } from 'vitest'

export interface Prepared<T> {
  /** A copy for the test that called the function. It is removed when the test ends. */
  readonly folder: string
  /** The result of `prepare`. */
  readonly made: T
}

/**
 * Returns a function that gives each test its own copy of a data folder. The first call runs `prepare` on an empty folder, and all calls copy the
 * result. `prepare` must resolve only after every program that used the folder has stopped. Call `prepared` outside of tests: it removes the
 * original folder after the last test of the file.
 */
export const prepared = <T>(prepare: (folder: string) => Promise<T>): (() => Promise<Prepared<T>>) => {
  const root = join(tmpdir(), 'tributary-prepared-')
  let original: { readonly folder: string; readonly made: Promise<T> } | undefined
  const prepareOnce = () => {
    const folder = mkdtempSync(root)
    return { folder, made: prepare(folder) }
  }
  afterAll(() => original && rmSync(original.folder, { recursive: true, force: true }))
  return async () => {
    original ??= prepareOnce()
    const made = await original.made
    const folder = mkdtempSync(root)
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    cpSync(original.folder, folder, { recursive: true })
    return { folder, made }
  }
}
