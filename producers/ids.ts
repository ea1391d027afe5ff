import { v5 } from 'uuid'

/** New ids, as a port: seeded in tests. */
export interface Ids {
  uuidv7(): string
}

// uuidv5 of the DNS name space and `tributary.producers`.
const NAMESPACE = v5('tributary.producers', v5.DNS)

/** The same parts always give the same id. Parts must not hold \0, which the edge refuses everywhere. */
export const derivedId = (...parts: readonly string[]): string => v5(parts.join('\u0000'), NAMESPACE)

const ID_BYTES = 10
const POOLED_IDS = 512

/** UUIDv7 (RFC 9562): the time in milliseconds, then 74 random bits. The randomness is fetched for many ids at once. */
export const createIds = ({ now, randomBytes }: { now: () => number; randomBytes: (size: number) => Uint8Array }): Ids => {
  let pool = Buffer.alloc(0)
  let at = 0
  return {
    uuidv7() {
      if (at + ID_BYTES > pool.length) [pool, at] = [Buffer.from(randomBytes(ID_BYTES * POOLED_IDS)), 0]
      const random = pool.toString('hex', at, (at += ID_BYTES))
      const time = now().toString(16).padStart(12, '0')
      const variant = VARIANT.charAt(Number.parseInt(random.charAt(3), 16) & 3)
      return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-${variant}${random.slice(4, 7)}-${random.slice(7, 19)}`
    },
  }
}

const VARIANT = '89ab'
