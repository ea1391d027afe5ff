/** 16 MiB of bits, touched only as they are set: nine million keys leave one wrong "perhaps" in a hundred and fifty. */
const BITS = 2 ** 27

/**
 * Knows most keys that were never written, without asking LMDB: a fold asks for many items that are not there yet, and a miss in a large
 * tree costs as much as a hit. Only for a table that was empty when it was opened, for it must have seen every key.
 */
export interface Absence {
  add(id: string): void
  /** True only if the key was never added. */
  lacks(id: string): boolean
}

export const createAbsence = (): Absence => {
  let words: Int32Array | undefined
  return {
    add: id => {
      words ??= new Int32Array(BITS / 32)
      let hash = hashOf(id)
      for (let probe = 0; probe < 3; probe++) {
        const bit = hash >>> 5
        words[bit >>> 5] = (words[bit >>> 5] ?? 0) | (1 << (bit & 31))
        hash = mixed(hash)
      }
    },
    lacks: id => {
      if (words === undefined) return true
      let hash = hashOf(id)
      for (let probe = 0; probe < 3; probe++) {
        const bit = hash >>> 5
        if (((words[bit >>> 5] ?? 0) & (1 << (bit & 31))) === 0) return true
        hash = mixed(hash)
      }
      return false
    },
  }
}

/** FNV-1a over UTF-16 units, finished so that every bit of the text reaches the upper ones. */
const hashOf = (text: string): number => {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return mixed(hash)
}

const mixed = (hash: number): number => {
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) + 0x9e3779b9 | 0
}
