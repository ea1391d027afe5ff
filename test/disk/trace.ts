/** One change of the disk by the observed process, or one acknowledgement. */
export type Step =
  | {
      readonly kind: 'open'
      readonly inode: bigint
      readonly path: string
      readonly isFolder: boolean
      readonly isNew: boolean
      readonly isEmptied: boolean
    }
  | {
      readonly kind: 'write'
      readonly inode: bigint
      readonly offset: number
      readonly bytes: Buffer
      readonly isSynced: boolean
    }
  | { readonly kind: 'truncate'; readonly inode: bigint; readonly size: number }
  | { readonly kind: 'sync'; readonly inode: bigint }
  | { readonly kind: 'rename'; readonly inode: bigint; readonly from: string; readonly to: string }
  | { readonly kind: 'remove'; readonly path: string; readonly isFolder: boolean }
  | { readonly kind: 'ack'; readonly text: string }
  /** A call by which the process wrote in a way that the observer cannot record. */
  | { readonly kind: 'unobserved'; readonly inode: bigint; readonly call: string }

interface Entry {
  readonly flags: number
  readonly inode: bigint
  readonly offset: number
  readonly name: string
  readonly data: Buffer
}

const HEAD = 28

/** The letters of the kinds of entries that have data after the name: writes and acknowledgements. */
const WITH_DATA = 'wa'

const stepOf = (
  kind: string,
  { flags, inode, offset, name, data }: Entry,
  before: Entry | undefined,
): Step | undefined => {
  switch (kind) {
    case 'o':
      return {
        kind: 'open',
        inode,
        path: name,
        isFolder: (flags & 1) !== 0,
        isNew: (flags & 2) !== 0,
        isEmptied: (flags & 4) !== 0,
      }
    case 'w':
      return { kind: 'write', inode, offset, bytes: data, isSynced: flags !== 0 }
    case 't':
      return { kind: 'truncate', inode, size: offset }
    case 's':
      return { kind: 'sync', inode }
    case 'n':
      return { kind: 'rename', inode, from: before?.name ?? '', to: name }
    case 'u':
      return { kind: 'remove', path: name, isFolder: flags !== 0 }
    case 'a':
      return { kind: 'ack', text: data.toString() }
    case 'x':
      return { kind: 'unobserved', inode, call: name }
    // A rename has two entries. The second entry becomes the step.
    case 'r':
      return undefined
    default:
      throw new Error(`the disk observer wrote an entry of an unknown kind: ${JSON.stringify(kind)}`)
  }
}

/** The steps of a trace in their order. */
export const readTrace = (bytes: Buffer): readonly Step[] => {
  const steps: Step[] = []
  let before: Entry | undefined
  for (let at = 0; at < bytes.length;) {
    const kind = String.fromCharCode(bytes.readUInt8(at))
    const nameEnd = at + HEAD + bytes.readUInt16LE(at + 2)
    const end = nameEnd + (WITH_DATA.includes(kind) ? Number(bytes.readBigUInt64LE(at + 20)) : 0)
    const entry = {
      flags: bytes.readUInt8(at + 1),
      inode: bytes.readBigUInt64LE(at + 4),
      offset: Number(bytes.readBigUInt64LE(at + 12)),
      name: bytes.toString('utf8', at + HEAD, nameEnd),
      data: bytes.subarray(nameEnd, end),
    }
    const step = stepOf(kind, entry, before)
    if (step !== undefined) steps.push(step)
    before = entry
    at = end
  }
  return steps
}
