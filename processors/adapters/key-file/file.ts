import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { Fault, messageOf } from '../../../schemas/fault.ts'
import { type Founding } from '../../engine/ports/key-store.ts'
import { syncPath } from '../sync-path.ts'
import { applyLine, format, SECRET_DIGITS, type Entry, type Line, type EntryLine, type StoredKey } from './lines.ts'
import { keysCut, keysGone } from '../../engine/people/key-store-rules.ts'

/** The open key file and its content. */
export interface KeyFile {
  readonly founding: Founding
  readonly people: ReadonlyMap<string, Entry>
  /** The number of bytes of the complete lines. */
  extent(): number
  /** Reads the lines that another process has added. */
  refresh(): void
  /** Appends the lines. When the function returns, the lines are on the disk and `people` contains them. */
  append(lines: readonly EntryLine[]): void
  secretOf(key: StoredKey): Uint8Array
  /** Overwrites the secret of a key in the file. */
  erase(key: StoredKey): void
  read(position: number, size: number): string
  /** Replaces the characters from this position on. When the function returns, they are on the disk. */
  overwrite(position: number, text: string): void
  close(): void
}

const CHUNK = 1024 * 1024
const BLANK = '0'.repeat(SECRET_DIGITS)

/** Creates a key file with its first line. After a crash the file is complete or absent. */
export const foundKeyFile = (path: string, founding: Founding): void => {
  const folder = dirname(path)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const draft = `${path}.new`
  const fd = openSync(draft, 'w', 0o600)
  writeSync(fd, format({ founding }))
  fsyncSync(fd)
  closeSync(fd)
  renameSync(draft, path)
  syncPath(folder)
}

export const openKeyFile = (path: string, mode: 'write' | 'read', least = 0): KeyFile => {
  if (!existsSync(path)) throw keysGone(path)
  const fd = openSync(path, mode === 'write' ? 'r+' : 'r')
  const people = new Map<string, Entry>()
  let founding: Founding | undefined
  let end = 0
  const applyText = (text: string, start: number): void => {
    const line = parseLine(text, { path, start })
    if ('founding' in line) founding = line.founding
    else applyLine(people, line, { start, text })
  }
  const refresh = (): void => {
    if (fstatSync(fd).size > end) end = readLines(fd, end, applyText)
  }
  refresh()
  if (founding === undefined) throw damaged(path, 0)
  if (end < least) {
    closeSync(fd)
    throw keysCut(path, { holds: end, least })
  }
  // A line that a crash cut off was never acknowledged, so it is removed.
  if (mode === 'write') ftruncateSync(fd, end)
  const read: KeyFile['read'] = (position, size) => {
    const bytes = Buffer.alloc(size)
    readSync(fd, bytes, 0, size, position)
    return bytes.toString('latin1')
  }
  const overwrite: KeyFile['overwrite'] = (position, text) => {
    const before = read(position, text.length)
    if (before === text) return
    try {
      writeAll(fd, Buffer.from(text, 'latin1'), position)
      fdatasyncSync(fd)
    } catch (error) {
      writeAll(fd, Buffer.from(before, 'latin1'), position)
      throw unwritable(path, error)
    }
  }
  const append: KeyFile['append'] = (lines) => {
    const text = lines.map(format).join('')
    try {
      writeAll(fd, Buffer.from(text), end)
      fdatasyncSync(fd)
    } catch (error) {
      ftruncateSync(fd, end)
      throw unwritable(path, error)
    }
    refresh()
  }
  return {
    founding,
    people,
    refresh,
    append,
    extent: () => end,
    secretOf: ({ position }) => Buffer.from(read(position, SECRET_DIGITS), 'hex'),
    erase: ({ position }) => overwrite(position, BLANK),
    read,
    overwrite,
    close: () => closeSync(fd),
  }
}

const writeAll = (fd: number, bytes: Buffer, position: number): void => {
  for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done, bytes.length - done, position + done)
}

/** Calls `each` with every complete line from byte `from` on, and with its position. Returns the position after the last complete line. */
const readLines = (fd: number, from: number, each: (text: string, start: number) => void): number => {
  let rest = Buffer.alloc(0)
  let end = from
  for (;;) {
    const chunk = Buffer.alloc(CHUNK)
    const read = readSync(fd, chunk, 0, CHUNK, end + rest.length)
    if (read === 0) return end
    const bytes = Buffer.concat([rest, chunk.subarray(0, read)])
    let start = 0
    for (let stop = bytes.indexOf(10); stop !== -1; stop = bytes.indexOf(10, start)) {
      each(bytes.toString('utf8', start, stop), end + start)
      start = stop + 1
    }
    end += start
    rest = bytes.subarray(start)
  }
}

const parseLine = (text: string, { path, start }: { path: string; start: number }): Line => {
  try {
    const line = JSON.parse(text) as Line
    if (typeof line === 'object' && line !== null && ('founding' in line || typeof line.of === 'string')) return line
  } catch {
    // A line that is not JSON gets the fault below, like JSON without the expected fields.
  }
  throw damaged(path, start)
}

const unwritable = (path: string, error: unknown): Fault =>
  new Fault(
    'key-store-unavailable',
    `The key store at ${path} could not be written. Events that need a new key are not accepted until it can be written. Check the disk (${messageOf(error)}).`,
    { retriable: true, cause: error },
  )

const damaged = (path: string, position: number): Fault =>
  new Fault(
    'key-store-damaged',
    `The key store at ${path} is damaged at byte ${position}. Restore it from its backup, then start again. Nothing was changed.`,
  )
