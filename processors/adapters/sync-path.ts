import { closeSync, fsyncSync, openSync } from 'node:fs'

/** Syncs a file, or the file names of a folder, to the disk. */
export const syncPath = (path: string): void => {
  const handle = openSync(path, 'r')
  fsyncSync(handle)
  closeSync(handle)
}
