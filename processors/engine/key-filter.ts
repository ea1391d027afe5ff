import type { Key } from '../../projections/item.ts'

/** Tells that a key was surely never seen: two bits a key, so a few in a hundred strangers pass for known at ten million keys. */
export interface KeyFilter {
  /** Remembers the key; true when it was surely not seen before. */
  isNew(key: Key): boolean
  mayHold(key: Key): boolean
}

const MOST_BITS = 1 << 27
const LEAST_BITS = 1 << 14
/** For what an event writes at most times. */
const BITS_AN_EVENT = 16

/** Most keys that a build asks for are new, and looking for what is not there is the dearest part of a fold. */
export const createKeyFilter = (events: number): KeyFilter => {
  const bits = 2 ** Math.ceil(Math.log2(Math.min(MOST_BITS, Math.max(LEAST_BITS, events * BITS_AN_EVENT))))
  const mask = bits - 1
  const words = new Int32Array(bits >>> 5)
  const hashOf = createHash()
  /** Whether the bit was set; sets it. */
  const swap = (at: number): boolean => {
    const word = words[at >>> 5] as number
    words[at >>> 5] = word | (1 << (at & 31))
    return (word & (1 << (at & 31))) !== 0
  }
  const has = (at: number): boolean => ((words[at >>> 5] as number) & (1 << (at & 31))) !== 0
  return {
    isNew: (key) => {
      const hash = hashOf(key)
      const [one, other] = [swap(first(hash) & mask), swap(second(hash) & mask)]
      return !one || !other
    },
    mayHold: (key) => {
      const hash = hashOf(key)
      return has(first(hash) & mask) && has(second(hash) & mask)
    },
  }
}

const first = (hash: number): number => hash ^ (hash >>> 15)
const second = (hash: number): number => Math.imul(hash, 0x9e3779b1) >>> 5

/** A fold asks for a few keys of one PK and then writes some of them: these are hashed once. */
const RECENT = 4

/** FNV-1a over both halves. */
const createHash = () => {
  const recent = Array.from({ length: RECENT }, () => ({ SK: '', hash: 0 }))
  let partition = ''
  let seed = mixed(OFFSET_BASIS, partition)
  let turn = 0
  const begin = (PK: string) => {
    partition = PK
    seed = mixed(OFFSET_BASIS, PK)
    for (const one of recent) one.SK = ''
  }
  return ({ PK, SK }: Key): number => {
    if (PK !== partition) begin(PK)
    for (const one of recent) if (one.SK === SK && SK !== '') return one.hash
    const next = recent[turn++ % RECENT] as { SK: string; hash: number }
    next.SK = SK
    return (next.hash = mixed(seed, SK))
  }
}

const OFFSET_BASIS = 0x811c9dc5

const mixed = (seed: number, text: string): number => {
  let hash = seed
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash
}
