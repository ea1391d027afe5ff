import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { Step } from './trace.ts'

/**
 * The disk as a power loss may leave it. Everything that was synced is there. Of everything else each sector of each write may be there or
 * not. Names follow the journal of a file system such as ext4 or XFS: a sync of a file or folder makes the last change of its name durable,
 * together with all changes of names before it; what comes after is lost from some point on.
 */
export interface Disk {
  take(step: Step): void
  /** Paths of the files that hold bytes which no sync has followed. */
  unsynced(): readonly string[]
  /** Writes the disk as it is after a power loss now; `survives` decides about each sector and each name that was not synced. */
  restore(root: string, into: string, survives: () => boolean): void
}

type Bytes = Buffer<ArrayBuffer>
type Change = { readonly offset: number; readonly bytes: Buffer } | { readonly size: number }

interface File {
  bytes: Bytes
  pending: Change[]
}

const sizeOf = ({ bytes, pending }: File): number =>
  pending.reduce((size, change) => ('size' in change ? change.size : Math.max(size, change.offset + change.bytes.length)), bytes.length)

interface NameChange {
  readonly path: string
  /** Undefined: the name is removed. */
  readonly file: File | undefined
  /** The inode of the file, and the folders whose entries change. */
  readonly concerns: readonly (bigint | string)[]
}

const SECTOR = 512

const resized = (bytes: Bytes, size: number): Bytes => (size <= bytes.length ? Buffer.from(bytes.subarray(0, size)) : Buffer.concat([bytes, Buffer.alloc(size - bytes.length)]))

const apply = (bytes: Bytes, change: Change): Bytes => {
  if ('size' in change) return resized(bytes, change.size)
  const grown = bytes.length < change.offset + change.bytes.length ? resized(bytes, change.offset + change.bytes.length) : bytes
  change.bytes.copy(grown, change.offset)
  return grown
}

/** A write in its sectors: the disk writes each of them whole, in any order. */
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

  const enter = (change: NameChange) => {
    if (change.file === undefined) durableNames.delete(change.path)
    else durableNames.set(change.path, change.file)
  }
  const name = (path: string, file: File | undefined, inode: bigint | undefined) =>
    void journal.push({ path, file, concerns: [dirname(path), ...(inode === undefined ? [] : [inode])] })
  const commit = (concern: bigint | string | undefined) => {
    if (concern === undefined) return
    const last = journal.findLastIndex(({ concerns }) => concerns.includes(concern))
    journal.slice(0, last + 1).forEach(enter)
    journal = journal.slice(last + 1)
  }
  const namesNow = () => {
    const now = new Map(durableNames)
    for (const { path, file } of journal) {
      if (file === undefined) now.delete(path)
      else now.set(path, file)
    }
    return now
  }

  const take = (step: Step): void => {
    switch (step.kind) {
      case 'open':
        if (step.isFolder) return void folders.set(step.inode, step.path)
        if (step.isNew || !files.has(step.inode)) {
          const file: File = { bytes: Buffer.alloc(0), pending: [] }
          files.set(step.inode, file)
          name(step.path, file, step.inode)
        } else if (step.isEmptied) files.get(step.inode)?.pending.push({ size: 0 })
        return
      case 'write': {
        const file = files.get(step.inode)
        if (file === undefined) return
        if (step.isSynced) file.bytes = apply(file.bytes, step)
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
          for (const change of file.pending) file.bytes = apply(file.bytes, change)
          file.pending = []
        }
        return commit(file === undefined ? folders.get(step.inode) : step.inode)
      }
      case 'rename':
        name(step.from, undefined, undefined)
        return name(step.to, files.get(step.inode), step.inode)
      case 'remove': return step.isFolder ? undefined : name(step.path, undefined, undefined)
      case 'ack': case 'unobserved': return
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
      for (const change of file.pending.flatMap(sectorsOf)) if (survives()) bytes = apply(bytes, change)
      const target = join(into, relative(root, path))
      mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
      writeFileSync(target, bytes, { mode: 0o600 })
    }
  }
  return { take, restore, unsynced: () => [...namesNow()].filter(([, file]) => file.pending.length > 0).map(([path]) => path) }
}
