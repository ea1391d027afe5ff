import { closeSync, fsyncSync, openSync } from 'node:fs'

/** Waits until a file, or the names in a folder, are on disk. */
export const syncPath = (path: string): void => {
  const handle = openSync(path, 'r')
  fsyncSync(handle)
  closeSync(handle)
}
