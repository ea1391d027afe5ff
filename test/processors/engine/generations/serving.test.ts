import { expect, test } from 'vitest'
import { openServing, type ServingParts } from '../../../../processors/engine/generations/serving.ts'
import { isFault } from '../../../../schemas/fault.ts'
import { ledger } from '../ledger.ts'
import { memoryStore } from '../../../../testing/memory-store.ts'
import type { OpenGeneration } from '../../../../processors/engine/run/open-generations.ts'

type Answer = (offset: number) => void

/** A serving generation. The test answers each read of the checkpoint, in any order, by a call of the functions in `reads`. */
const opened = async () => {
  const reads: Answer[] = []
  const checkpoints = () =>
    new Promise<ReadonlyMap<number, number>>((resolve) => reads.push((offset) => resolve(new Map([[0, offset]]))))
  const followed: OpenGeneration = {
    generation: 1,
    store: { ...memoryStore(), checkpoints },
    series: undefined,
    outcomes: {} as OpenGeneration['outcomes'],
  }
  const failures: unknown[] = []
  const control = {
    serving: () =>
      Promise.resolve({ generation: 1, from: new Map(), parked: new Map(), before: [], version: 1, since: 0 }),
    generations: () => Promise.resolve([]),
  }
  const parts: ServingParts<OpenGeneration> = {
    domain: ledger,
    control,
    generation: () => Promise.resolve(followed),
    failed: (error) => failures.push(error),
    written: () => new Map(),
  }
  const opening = openServing(parts)
  await expect.poll(() => reads.length).toBe(1)
  reads[0]?.(100)
  return { serving: await opening, reads, failures }
}

test('two reads whose answers arrive in reverse order do not count as a rewound table', async () => {
  const { serving, reads, failures } = await opened()
  const looks = [serving.checkRewound(), serving.checkRewound()]
  reads[2]?.(105)
  await looks[1]
  reads[1]?.(101)
  await looks[0]
  expect(failures).toEqual([])
  expect(serving.answering().generation).toBe(1)
})

test('a table that contains less than before is reported until it has caught up', async () => {
  const { serving, reads, failures } = await opened()
  const look = serving.checkRewound()
  reads[1]?.(3)
  await look
  expect(failures.map((error) => isFault(error, 'table-rewound'))).toEqual([true])
  expect(() => serving.answering()).toThrow()
  const later = serving.checkRewound()
  reads[2]?.(100)
  await later
  expect(serving.answering().generation).toBe(1)
})
