import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs'
import { Fault } from '../../../schemas/fault.ts'
import { findBadPage, treeAt, type Tree } from './pages.ts'

/**
 * Throws `data-damaged` if LMDB needs a page beyond the end of the file. LMDB maps the file into memory, and access to a missing page ends the
 * process with a signal. LMDB does not write pages that a transaction allocated and freed, so an intact file can be shorter than its last page
 * number. Therefore a short file is rejected only if the newest meta page leads to a missing page.
 *
 * The layout is that of lmdb-js 3 (data version 2). A file of another version is not checked.
 */
export const requireCompleteFile = (file: string): void => {
  if (!existsSync(file)) return
  const handle = openSync(file, 'r')
  try {
    // An empty file was created and not yet written. It is not damaged: LMDB initializes it.
    if (fstatSync(handle).size === 0) return
    // Another process may write the file during the check, and its transactions reuse pages. So a problem is certain only if no transaction committed
    // meanwhile.
    for (let before = readMeta(handle, file); ;) {
      const problem = problemOf(handle, before)
      const after = readMeta(handle, file)
      if (problem === undefined) return
      if (before.transaction === after.transaction) throw damaged(file, problem)
      before = after
    }
  } finally {
    closeSync(handle)
  }
}

const damaged = (file: string, problem: string): Fault =>
  new Fault(
    'data-damaged',
    `${file} ${problem}. Restore the data folder from a backup. If this is the table of a domain (not the log, tributary-control or tributary-ledger), remove its folder instead and run: tributary rebuild DOMAIN.`,
  )

/** Reads `length` bytes, or fewer at the end of the file. Reads the file itself and not LMDB's mapping of it in memory. */
const readAt = (handle: number, position: number, length: number): Buffer => {
  const bytes = Buffer.alloc(length)
  return bytes.subarray(0, readSync(handle, bytes, 0, length, position))
}

/** A snapshot of the environment: the content of a meta page. */
interface Meta {
  readonly version: number
  readonly pageBytes: number
  readonly lastPage: number
  readonly transaction: bigint
  /** The tree of free pages, and the main tree, which contains the named databases. */
  readonly trees: readonly Tree[]
}

const problemOf = (handle: number, { version, pageBytes, lastPage, trees }: Meta): string | undefined => {
  if (version !== VERSION) return undefined
  const { size } = fstatSync(handle)
  if (size >= (lastPage + 1) * pageBytes) return undefined
  const bad = findBadPage(
    { pages: Math.floor(size / pageBytes), readPage: (page) => readAt(handle, page * pageBytes, pageBytes) },
    trees,
  )
  if (bad === undefined) return undefined
  return `has ${size} bytes, and page ${bad.page} of ${pageBytes} bytes is ${bad.problem}: ${bad.problem === 'missing' ? 'the end of the file was cut off' : 'another program changed the file'}`
}

const META_BYTES = 168
const AT = { magic: 24, version: 28, pageBytes: 48, freeTree: 48, mainTree: 96, lastPage: 144, transaction: 152 }
const MAGIC = 0xbeefc0de
const VERSION = 2
const SMALLEST_PAGE = 4096

/**
 * Returns the newer of the two meta pages. Throws if one of them is invalid, because LMDB cannot open such a file. If the file has another version,
 * returns the first meta page.
 */
const readMeta = (handle: number, file: string): Meta => {
  const first = metaIn(readAt(handle, 0, META_BYTES))
  if (first !== undefined && first.version !== VERSION) return first
  const second = metaIn(readAt(handle, first?.pageBytes ?? SMALLEST_PAGE, META_BYTES))
  if (first === undefined || second === undefined)
    throw damaged(file, 'does not begin with the meta pages of LMDB: the file was cut off or overwritten')
  return first.transaction >= second.transaction ? first : second
}

const metaIn = (page: Buffer): Meta | undefined => {
  if (page.length < META_BYTES || page.readUInt32LE(AT.magic) !== MAGIC) return undefined
  return {
    version: page.readUInt32LE(AT.version),
    pageBytes: page.readUInt32LE(AT.pageBytes),
    lastPage: Number(page.readBigUInt64LE(AT.lastPage)),
    transaction: page.readBigUInt64LE(AT.transaction),
    // `hasTrees` is a constant for each of the two trees. The flags of the first tree do not contain it, because LMDB stores the flags of the
    // environment in their place.
    trees: [
      { ...treeAt(page, AT.freeTree), hasTrees: false },
      { ...treeAt(page, AT.mainTree), hasTrees: true },
    ],
  }
}
