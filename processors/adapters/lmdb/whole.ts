import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs'
import { Fault } from '../../../schemas/fault.ts'

/**
 * LMDB maps its file and trusts it: pages that are not there any more end the process by a signal, without a word. So before a file is mapped, its
 * two meta pages are asked how far its pages go. The layout is that of lmdb-js 3 (data version 2); of another one nothing is concluded.
 */
export const requireWhole = (file: string): void => {
  if (!existsSync(file)) return
  const handle = openSync(file, 'r')
  try {
    const { size } = fstatSync(handle)
    // Made and not yet written: LMDB begins it.
    if (size === 0) return
    const page = Buffer.alloc(META_BYTES)
    const metas = [0, PAGE_BYTES].map((at) => (readSync(handle, page, 0, META_BYTES, at) === META_BYTES ? metaIn(page) : undefined))
    if (metas.every((meta) => meta === undefined)) throw new Fault('data-damaged', `${file} does not begin as an LMDB file does: it was cut off or overwritten. ${REMEDY}`)
    const needed = Math.max(...metas.map((meta) => (meta === undefined ? 0 : (meta.lastPage + 1) * meta.pageBytes)))
    if (size < needed) throw new Fault('data-damaged', `${file} has ${size} bytes, but its pages go to ${needed}: its end is missing. ${REMEDY}`)
  } finally {
    closeSync(handle)
  }
}

const REMEDY = 'Restore the data folder from a backup. If this is the table of a domain (not the log, tributary-control or tributary-ledger), it is enough to remove its folder and to run: tributary rebuild DOMAIN.'

const PAGE_BYTES = 4096
const META_BYTES = 168
const AT = { magic: 24, version: 28, pageBytes: 48, lastPage: 144 }
const MAGIC = 0xbeefc0de
const VERSION = 2

const metaIn = (page: Buffer): { readonly pageBytes: number; readonly lastPage: number } | undefined => {
  if (page.readUInt32LE(AT.magic) !== MAGIC) return undefined
  if (page.readUInt32LE(AT.version) !== VERSION) return { pageBytes: 0, lastPage: 0 }
  return { pageBytes: page.readUInt32LE(AT.pageBytes), lastPage: Number(page.readBigUInt64LE(AT.lastPage)) }
}
