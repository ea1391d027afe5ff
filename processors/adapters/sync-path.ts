import { closeSync, fsyncSync, openSync } from 'node:fs'

/** Syncs a file to the disk. If the path is a folder, syncs the names of its files. */
export const syncPath = (path: string): void => {
  const handle = openSync(path, 'r')
  fsyncSync(handle)
  closeSync(handle)
}
