import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { Step } from './trace.ts'

/**
 * A model of a disk with power losses. All synced bytes survive. Each sector of the other writes survives or is lost, independent of the others.
 * Names follow the journal of a file system such as ext4 or XFS: a sync of a file or folder makes the last change of its name durable, together
 * with all earlier changes of names. Some of the later changes survive: the first ones, without gaps.
 */
export interface Disk {
  apply(step: Step): void
  /** The paths of the files with bytes that were not synced. */
  unsynced(): readonly string[]
  /** Writes the files that remain after a power loss now. An unsynced sector or name survives if `survives` returns true for it. */
  restore(root: string, into: string, survives: () => boolean): void
}

type Bytes = Buffer<ArrayBuffer>
type Change = { readonly offset: number; readonly bytes: Buffer } | { readonly size: number }

interface File {
  bytes: Bytes
  pending: Change[]
}

const sizeOf = ({ bytes, pending }: File): number =>
  pending.reduce(
    (size, change) => ('size' in change ? change.size : Math.max(size, change.offset + change.bytes.length)),
    bytes.length,
  )

interface NameChange {
  readonly path: string
  /** The file that has the name after the change. Undefined if the change removes the name. */
  readonly file: File | undefined
  /** The inode of the file and the folders whose entries change. */
  readonly concerns: readonly (bigint | string)[]
}

const SECTOR = 512

const resized = (bytes: Bytes, size: number): Bytes =>
  size <= bytes.length
    ? Buffer.from(bytes.subarray(0, size))
    : Buffer.concat([bytes, Buffer.alloc(size - bytes.length)])

const applyChange = (bytes: Bytes, change: Change): Bytes => {
  if ('size' in change) return resized(bytes, change.size)
  const grown =
    bytes.length < change.offset + change.bytes.length ? resized(bytes, change.offset + change.bytes.length) : bytes
  change.bytes.copy(grown, change.offset)
  return grown
}

/** Splits a write into its sectors. A disk writes each sector completely, and the sectors in any order. */
const sectorsOf = (change: Change): readonly Change[] => {
  if ('size' in change) return [change]
  const sectors: Change[] = []
  for (let at = change.offset; at < change.offset + change.bytes.length;) {
    const end = Math.min((Math.floor(at / SECTOR) + 1) * SECTOR, change.offset + change.bytes.length)
    sectors.push({ offset: at, bytes: change.bytes.subarray(at - change.offset, end - change.offset) })
    at = end
  }
  return sectors
}

export const createDisk = (): Disk => {
  const files = new Map<bigint, File>()
  const folders = new Map<bigint, string>()
  const durableNames = new Map<string, File>()
  let journal: NameChange[] = []

  const makeDurable = (change: NameChange) => {
    if (change.file === undefined) durableNames.delete(change.path)
    else durableNames.set(change.path, change.file)
  }
  const changeName = (path: string, file: File | undefined, inode: bigint | undefined) =>
    void journal.push({ path, file, concerns: [dirname(path), ...(inode === undefined ? [] : [inode])] })
  const commit = (concern: bigint | string | undefined) => {
    if (concern === undefined) return
    const last = journal.findLastIndex(({ concerns }) => concerns.includes(concern))
    journal.slice(0, last + 1).forEach(makeDurable)
    journal = journal.slice(last + 1)
  }
  const currentNames = () => {
    const names = new Map(durableNames)
    for (const { path, file } of journal) {
      if (file === undefined) names.delete(path)
      else names.set(path, file)
    }
    return names
  }

  const apply = (step: Step): void => {
    switch (step.kind) {
      case 'open':
        if (step.isFolder) return void folders.set(step.inode, step.path)
        if (step.isNew || !files.has(step.inode)) {
          const file: File = { bytes: Buffer.alloc(0), pending: [] }
          files.set(step.inode, file)
          changeName(step.path, file, step.inode)
        } else if (step.isEmptied) files.get(step.inode)?.pending.push({ size: 0 })
        return
      case 'write': {
        const file = files.get(step.inode)
        if (file === undefined) return
        if (step.isSynced) file.bytes = applyChange(file.bytes, step)
        else file.pending.push({ offset: step.offset, bytes: step.bytes })
        return
      }
      case 'truncate': {
        const file = files.get(step.inode)
        if (file !== undefined && sizeOf(file) !== step.size) file.pending.push({ size: step.size })
        return
      }
      case 'sync': {
        const file = files.get(step.inode)
        if (file !== undefined) {
          for (const change of file.pending) file.bytes = applyChange(file.bytes, change)
          file.pending = []
        }
        return commit(file === undefined ? folders.get(step.inode) : step.inode)
      }
      case 'rename':
        changeName(step.from, undefined, undefined)
        return changeName(step.to, files.get(step.inode), step.inode)
      case 'remove':
        return step.isFolder ? undefined : changeName(step.path, undefined, undefined)
      case 'ack':
      case 'unobserved':
        return
    }
  }

  const restore: Disk['restore'] = (root, into, survives) => {
    const names = new Map(durableNames)
    for (const { path, file } of journal) {
      if (!survives()) break
      if (file === undefined) names.delete(path)
      else names.set(path, file)
    }
    for (const [path, file] of names) {
      let bytes = Buffer.from(file.bytes)
      for (const change of file.pending.flatMap(sectorsOf)) if (survives()) bytes = applyChange(bytes, change)
      const target = join(into, relative(root, path))
      mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
      writeFileSync(target, bytes, { mode: 0o600 })
    }
  }
  return {
    apply,
    restore,
    unsynced: () => [...currentNames()].filter(([, file]) => file.pending.length > 0).map(([path]) => path),
  }
}
