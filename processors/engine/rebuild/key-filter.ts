import type { Key } from '../../../projections/item.ts'

/** A Bloom filter over keys, with two bits per key. It has no false negatives. At ten million keys, a few per cent of the unknown keys are false positives. */
export interface KeyFilter {
  /** Adds the key. Returns true if it was certainly not added before. */
  add(key: Key): boolean
  /** False: the key was certainly never added. */
  mayContain(key: Key): boolean
}

const MAX_BITS = 1 << 27
const MIN_BITS = 1 << 14
/** Enough for the keys that most events write. */
const BITS_PER_EVENT = 16

/** Most keys that a build reads are new, and a lookup of an absent item is the most expensive part of a fold. */
export const createKeyFilter = (events: number): KeyFilter => {
  const bits = 2 ** Math.ceil(Math.log2(Math.min(MAX_BITS, Math.max(MIN_BITS, events * BITS_PER_EVENT))))
  const mask = bits - 1
  const words = new Int32Array(bits >>> 5)
  const hashOf = createHash()
  /** Sets the bit. Returns true if it was set before. */
  const swap = (at: number): boolean => {
    const word = words[at >>> 5] as number
    words[at >>> 5] = word | (1 << (at & 31))
    return (word & (1 << (at & 31))) !== 0
  }
  const has = (at: number): boolean => ((words[at >>> 5] as number) & (1 << (at & 31))) !== 0
  return {
    add: (key) => {
      const hash = hashOf(key)
      const [hadFirst, hadSecond] = [swap(first(hash) & mask), swap(second(hash) & mask)]
      return !hadFirst || !hadSecond
    },
    mayContain: (key) => {
      const hash = hashOf(key)
      return has(first(hash) & mask) && has(second(hash) & mask)
    },
  }
}

const first = (hash: number): number => hash ^ (hash >>> 15)
const second = (hash: number): number => Math.imul(hash, 0x9e3779b1) >>> 5

/** A fold reads a few keys of one PK and then writes some of them. The hashes of this many keys are kept. */
const RECENT = 4

/** FNV-1a over PK and SK. */
const createHash = () => {
  const recent = Array.from({ length: RECENT }, () => ({ SK: '', hash: 0 }))
  let partition = ''
  let seed = mixed(OFFSET_BASIS, partition)
  let next = 0
  const begin = (PK: string) => {
    partition = PK
    seed = mixed(OFFSET_BASIS, PK)
    for (const each of recent) each.SK = ''
  }
  return ({ PK, SK }: Key): number => {
    if (PK !== partition) begin(PK)
    for (const each of recent) if (each.SK === SK && SK !== '') return each.hash
    const oldest = recent[next++ % RECENT] as { SK: string; hash: number }
    oldest.SK = SK
    return (oldest.hash = mixed(seed, SK))
  }
}

const OFFSET_BASIS = 0x811c9dc5

const mixed = (seed: number, text: string): number => {
  let hash = seed
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash
}
