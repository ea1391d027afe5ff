/**
 * The partition of a key, by Kafka's default partitioner (murmur2), so other producers put the key into the same partition.
 * `partitions` is the number of partitions when the topic was first opened, so partitions that are added later move no key.
 */
export function partitionOf(key: string, partitions: number): number {
  return (murmur2(Buffer.from(key)) & 0x7fffffff) % partitions
}

const M = 0x5bd1e995
const SEED = 0x9747b28c

function murmur2(data: Buffer): number {
  const whole = data.length & ~3
  let hash = SEED ^ data.length
  for (let index = 0; index < whole; index += 4) {
    const mixed = Math.imul(data.readInt32LE(index), M)
    hash = Math.imul(hash, M) ^ Math.imul(mixed ^ (mixed >>> 24), M)
  }
  for (let index = data.length - 1; index >= whole; index--) hash ^= byte(data, index) << (8 * (index - whole))
  if (whole < data.length) hash = Math.imul(hash, M)
  hash = Math.imul(hash ^ (hash >>> 13), M)
  return hash ^ (hash >>> 15)
}

const byte = (data: Buffer, index: number): number => data[index] ?? 0
