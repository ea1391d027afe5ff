import { isPacked, type Packed, type Packing } from '../processors/engine/rebuild/build-target.ts'
import type { Stored } from '../projections/item.ts'

/** Returns a `Packing` that stores every second item as JSON bytes and leaves the other items as objects, so that a build must handle both. */
export const jsonPacking = (): Packing & { readonly opened: (put: Stored | Packed) => Stored } => {
  let count = 0
  const unpack = ({ bytes, start, end }: Packed): Stored => JSON.parse(bytes.toString('utf8', start, end)) as Stored
  return {
    pack: (item, bytes, at) => {
      const text = Object.values(item).some((value) => typeof value === 'bigint') ? '' : JSON.stringify(item)
      count += 1
      if (text === '' || count % 2 === 0 || bytes.length - at < Buffer.byteLength(text)) return -1
      return at + bytes.write(text, at)
    },
    unpack,
    opened: (put) => (isPacked(put) ? unpack(put) : put),
  }
}
