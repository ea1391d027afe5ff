/** Kafka's own way (murmur2), so that any other keyed producer agrees; over the kept count, so that partitions added later move no key. */
export function partitionOf(key: string, partitions: number): number {
  return (murmur2(Buffer.from(key)) & 0x7fffffff) % partitions
}

const M = 0x5bd1e995
const SEED = 0x9747b28c

function murmur2(data: Buffer): number {
  const whole = data.length & ~3
  let hash = SEED ^ data.length
  for (let at = 0; at < whole; at += 4) {
    const mixed = Math.imul(data.readInt32LE(at), M)
    hash = Math.imul(hash, M) ^ Math.imul(mixed ^ (mixed >>> 24), M)
  }
  for (let at = data.length - 1; at >= whole; at--) hash ^= byte(data, at) << (8 * (at - whole))
  if (whole < data.length) hash = Math.imul(hash, M)
  hash = Math.imul(hash ^ (hash >>> 13), M)
  return hash ^ (hash >>> 15)
}

const byte = (data: Buffer, at: number): number => data[at] ?? 0
