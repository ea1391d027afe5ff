import { closeSync, existsSync, fdatasyncSync, fstatSync, fsyncSync, ftruncateSync, mkdirSync, openSync, readSync, renameSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { Fault, messageOf } from '../../../schemas/fault.ts'
import { keysCut, keysGone, type Founding } from '../../engine/key-store.ts'
import { syncPath } from '../sync-path.ts'
import { format, learn, SECRET_DIGITS, type Entry, type Kept, type Line } from './lines.ts'

/** The open file and all that it says. */
export interface KeyFile {
  readonly founding: Founding
  readonly people: ReadonlyMap<string, Entry>
  /** Bytes of whole lines. */
  extent(): number
  /** What another process added since. */
  refresh(): void
  /** On disk, and known, when it returns. */
  append(lines: readonly Exclude<Line, { founding: Founding }>[]): void
  secretOf(kept: Kept): Uint8Array
  /** Overwrites a secret where it lies. */
  erase(kept: Kept): void
  close(): void
}

const CHUNK = 1024 * 1024
const BLANK = '0'.repeat(SECRET_DIGITS)

/** Made whole or not at all: a file that is there is founded. */
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
  const take = (text: string, start: number): void => {
    const line = parsed(text, { path, start })
    if ('founding' in line) founding = line.founding
    else learn(people, line, { start, text })
  }
  const refresh = (): void => {
    if (fstatSync(fd).size > end) end = readLines(fd, end, take)
  }
  refresh()
  if (founding === undefined) throw damaged(path, 0)
  if (end < least) {
    closeSync(fd)
    throw keysCut(path, { holds: end, least })
  }
  // What a crash left half written was never acknowledged.
  if (mode === 'write') ftruncateSync(fd, end)
  const append: KeyFile['append'] = (lines) => {
    const text = lines.map(format).join('')
    try {
      writeAll(fd, Buffer.from(text), end)
      fdatasyncSync(fd)
    } catch (error) {
      ftruncateSync(fd, end)
      throw new Fault('key-store-unavailable', `The key store at ${path} could not be written; nothing that needs a new key is accepted until it can be. Check the disk (${messageOf(error)}).`, { retriable: true, cause: error })
    }
    refresh()
  }
  return {
    founding, people, refresh, append,
    extent: () => end,
    secretOf: ({ at }) => {
      const digits = Buffer.alloc(SECRET_DIGITS)
      readSync(fd, digits, 0, SECRET_DIGITS, at)
      return Buffer.from(digits.toString('latin1'), 'hex')
    },
    erase: ({ at }) => {
      const digits = Buffer.alloc(SECRET_DIGITS)
      readSync(fd, digits, 0, SECRET_DIGITS, at)
      if (digits.toString('latin1') === BLANK) return
      writeAll(fd, Buffer.from(BLANK), at)
      fdatasyncSync(fd)
    },
    close: () => closeSync(fd),
  }
}

const writeAll = (fd: number, bytes: Buffer, at: number): void => {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done, bytes.length - done, at + done)
}

/** Every whole line from `from` on; the answer is where the last one ends. */
const readLines = (fd: number, from: number, take: (text: string, start: number) => void): number => {
  let rest = Buffer.alloc(0)
  let end = from
  for (;;) {
    const chunk = Buffer.alloc(CHUNK)
    const read = readSync(fd, chunk, 0, CHUNK, end + rest.length)
    if (read === 0) return end
    const bytes = Buffer.concat([rest, chunk.subarray(0, read)])
    let start = 0
    for (let stop = bytes.indexOf(10); stop !== -1; stop = bytes.indexOf(10, start)) {
      take(bytes.toString('utf8', start, stop), end + start)
      start = stop + 1
    }
    end += start
    rest = bytes.subarray(start)
  }
}

const parsed = (text: string, { path, start }: { path: string; start: number }): Line => {
  try {
    const line = JSON.parse(text) as Line
    if (typeof line === 'object' && line !== null && ('founding' in line || typeof line.of === 'string')) return line
  } catch {
    // Falls through: damaged is damaged, however.
  }
  throw damaged(path, start)
}

const damaged = (path: string, at: number): Fault =>
  new Fault('key-store-damaged', `The key store at ${path} is damaged at byte ${at}. Restore it from its backup, then start again. Nothing was changed.`)
