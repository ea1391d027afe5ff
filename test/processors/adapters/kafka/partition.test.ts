import fc from 'fast-check'
import { Partitioners } from 'kafkajs'
import { expect, test } from 'vitest'
import { partitionOf } from '../../../../processors/adapters/kafka/partition.ts'

const theirs = Partitioners.DefaultPartitioner()
const partitionsOf = (count: number) =>
  Array.from({ length: count }, (_, partitionId) => ({
    partitionId,
    leader: 1,
    partitionErrorCode: 0,
    replicas: [1],
    isr: [1],
  }))

test('a key is in the partition that other Kafka producers use for it', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, unit: 'binary' }), fc.integer({ min: 1, max: 40 }), (key, count) => {
      expect(partitionOf(key, count)).toBe(
        theirs({ topic: 't', partitionMetadata: partitionsOf(count), message: { key, value: null } }),
      )
    }),
  )
})

test('keys of every length around four bytes are in the same partition as with other producers', () => {
  for (let length = 1; length < 20; length++) {
    const key = 'k'.repeat(length)
    expect(partitionOf(key, 97)).toBe(
      theirs({ topic: 't', partitionMetadata: partitionsOf(97), message: { key, value: null } }),
    )
  }
})
