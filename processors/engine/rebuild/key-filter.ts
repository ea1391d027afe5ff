import type { Key } from '../../../projections/item.ts'

/**
 * A Bloom filter over keys, with two bits per key. It never reports an added key as absent. With ten million keys, it reports a few per
 * cent of the unknown keys as possibly added.
 */
export interface KeyFilter {
  /** Adds the key. Returns true if the key was certainly not added before. */
  add(key: Key): boolean
  /** Returns false if the key was certainly never added, and otherwise true. */
  mayContain(key: Key): boolean
}

const MAX_BITS = 1 << 27
const MIN_BITS = 1 << 14
/** The bits of the filter per event: enough for the keys that most events write. */
const BITS_PER_EVENT = 16

/**
 * Creates a filter for a build of about `events` events. Most keys that a build reads are new. For these keys the filter saves the lookup,
 * which is the most expensive part of a fold.
 */
export const createKeyFilter = (events: number): KeyFilter => {
  const bits = 2 ** Math.ceil(Math.log2(Math.min(MAX_BITS, Math.max(MIN_BITS, events * BITS_PER_EVENT))))
  const mask = bits - 1
  const words = new Int32Array(bits >>> 5)
  const hashOf = createHash()
  /** Sets the bit. Returns true if the bit was set before. */
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

/**
 * The number of hashes that are kept. A fold reads a few keys of one PK and then writes some of them, so the hashes of the last keys are
 * used again.
 */
const RECENT = 4

/** Returns a hash function over PK and SK (FNV-1a) that keeps the last hashes. */
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
