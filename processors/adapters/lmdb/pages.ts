/**
 * Field positions in the pages of an LMDB file of data version 2 on a 64-bit machine. `mdb.c` of the lmdb package defines them (MDB_page, MDB_node,
 * MDB_db, MDB_ovpage).
 */
const PAGE = { number: 0, flags: 18, nodesEnd: 20, header: 24 }
const NODE = { flags: 4, keyBytes: 6, header: 8 }
const OVERFLOW = { number: 0, pages: 16, bytes: 24 }
const TREE = { flags: 4, depth: 6, overflowPages: 24, root: 40, bytes: 48 }
const BRANCH_PAGE = 0x01
const LEAF_PAGE = 0x02
/** A leaf page without nodes: it contains only keys of the same length. */
const PACKED_PAGE = 0x20
const NODE_OVERFLOWS = 0x01
const NODE_IS_TREE = 0x02
const TREE_HAS_DUPLICATES = 0x04
const NO_ROOT = 0xffff_ffff_ffff_ffffn

/** The root of a tree of pages: of a named database, of the main tree or of the tree of free pages. */
export interface Tree {
  readonly root: bigint
  /** The number of levels, leaves included. */
  readonly depth: number
  /** The number of pages with values that are too large for a leaf. */
  readonly overflowPages: number
  /** True if some values are trees: in the main tree, and in databases with several values per key. */
  readonly hasTrees: boolean
}

export const treeAt = (bytes: Buffer, at: number): Tree => ({
  root: bytes.readBigUInt64LE(at + TREE.root),
  depth: bytes.readUInt16LE(at + TREE.depth),
  overflowPages: Number(bytes.readBigUInt64LE(at + TREE.overflowPages)),
  hasTrees: (bytes.readUInt16LE(at + TREE.flags) & TREE_HAS_DUPLICATES) !== 0,
})

export interface PageFile {
  /** The number of complete pages. */
  readonly pages: number
  readPage(page: number): Buffer
}

export interface BadPage {
  readonly page: number
  readonly problem: 'missing' | 'overwritten'
}

/** Returns a page that the trees refer to and that is missing in the file or is not a tree page. Returns undefined if there is none. */
export const findBadPage = (file: PageFile, trees: readonly Tree[]): BadPage | undefined => {
  for (const tree of trees) {
    const bad = badPageOf(file, tree)
    if (bad !== undefined) return bad
  }
  return undefined
}

const badPageOf = (file: PageFile, tree: Tree): BadPage | undefined => {
  const pending = tree.root === NO_ROOT ? [] : [{ page: Number(tree.root), level: tree.depth }]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { page, level } = next
    if (page >= file.pages) return { page, problem: 'missing' }
    // A leaf refers to other pages only for large values and trees. If the tree has neither, its leaves need no check.
    if (level <= 1 && tree.overflowPages === 0 && !tree.hasTrees) continue
    const bytes = file.readPage(page)
    const nodes = nodesOf(bytes, page, level > 1 ? BRANCH_PAGE : LEAF_PAGE)
    if (nodes === undefined) return { page, problem: 'overwritten' }
    for (const node of nodes) {
      if (level > 1) {
        pending.push({ page: childOf(bytes, node), level: level - 1 })
        continue
      }
      const bad = badPageUnder(file, bytes, page, node)
      if (bad !== undefined) return bad
    }
  }
  return undefined
}

/** The start positions of a page's nodes. Undefined if the bytes are not a page of this kind. */
const nodesOf = (bytes: Buffer, page: number, kind: number): readonly number[] | undefined => {
  const flags = bytes.readUInt16LE(PAGE.flags)
  if (Number(bytes.readBigUInt64LE(PAGE.number)) !== page || (flags & kind) === 0) return undefined
  if ((flags & PACKED_PAGE) !== 0) return []
  const count = bytes.readUInt16LE(PAGE.nodesEnd) >> 1
  if (PAGE.header + count * 2 > bytes.length) return undefined
  const nodes = Array.from({ length: count }, (_, index) => PAGE.header + bytes.readUInt16LE(PAGE.header + index * 2))
  return nodes.every((node) => dataOf(bytes, node) <= bytes.length) ? nodes : undefined
}

/** The start position of a node's value. Infinity if the node itself does not fit into the page. */
const dataOf = (bytes: Buffer, node: number): number =>
  node + NODE.header > bytes.length ? Infinity : node + NODE.header + bytes.readUInt16LE(node + NODE.keyBytes)

const childOf = (bytes: Buffer, node: number): number => bytes.readUIntLE(node, 6)

/** Checks the pages outside the leaf that contain the value of a node: a large value or a tree. Returns the first bad page, or undefined. */
const badPageUnder = (file: PageFile, bytes: Buffer, leaf: number, node: number): BadPage | undefined => {
  const flags = bytes.readUInt16LE(node + NODE.flags)
  const at = dataOf(bytes, node)
  const isLarge = (flags & NODE_OVERFLOWS) !== 0
  if (!isLarge && (flags & NODE_IS_TREE) === 0) return undefined
  if (at + (isLarge ? OVERFLOW.bytes : TREE.bytes) > bytes.length) return { page: leaf, problem: 'overwritten' }
  if (!isLarge) return badPageOf(file, treeAt(bytes, at))
  const last =
    Number(bytes.readBigUInt64LE(at + OVERFLOW.number)) + Number(bytes.readBigUInt64LE(at + OVERFLOW.pages)) - 1
  return last >= file.pages ? { page: last, problem: 'missing' } : undefined
}
