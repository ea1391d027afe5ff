import type { Key } from '../../projections/item.ts'

/** Tells that a key was surely never added: two bits a key, so a few in a hundred strangers pass for known at ten million keys. */
export interface KeyFilter {
  add(key: Key): void
  mayHold(key: Key): boolean
}

const BITS = 1 << 27
const MASK = BITS - 1

/** Most keys that a build asks for are new, and asking the store for what it does not have is the dearest part of a fold. */
export const createKeyFilter = (): KeyFilter => {
  const words = new Int32Array(BITS >>> 5)
  const has = (at: number): boolean => ((words[at >>> 5] as number) & (1 << (at & 31))) !== 0
  const set = (at: number) => {
    words[at >>> 5] = (words[at >>> 5] as number) | (1 << (at & 31))
  }
  return {
    add: (key) => {
      const hash = hashOf(key)
      set(first(hash))
      set(second(hash))
    },
    mayHold: (key) => {
      const hash = hashOf(key)
      return has(first(hash)) && has(second(hash))
    },
  }
}

const first = (hash: number): number => (hash ^ (hash >>> 15)) & MASK
const second = (hash: number): number => (Math.imul(hash, 0x9e3779b1) >>> 5) & MASK

/** FNV-1a over both halves. */
const hashOf = ({ PK, SK }: Key): number => mixed(mixed(0x811c9dc5, PK), SK)

const mixed = (seed: number, text: string): number => {
  let hash = seed
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash
}
