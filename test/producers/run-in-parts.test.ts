import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createCommands } from '../../producers/commands.ts'
import { runInParts, mapInParts } from '../../producers/run-in-parts.ts'
import type { NewRecord } from '../../processors/engine/ports/log.ts'
import type { Event } from '../../schemas/event.ts'

test('of several long tasks one part runs in each turn of the event loop', async () => {
  const done: string[] = []
  const task = (name: string) => runInParts(mapInParts([1, 2, 3], 1, (part) => done.push(`${name}${part}`)))
  const both = Promise.all([task('a'), task('b')])
  const seen: number[] = []
  while (done.length < 6) {
    seen.push(done.length)
    await nextTurn()
  }
  await both
  expect(done).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'b3'])
  expect(Math.max(...seen.slice(1).map((count, nth) => count - (seen[nth] ?? 0)))).toBe(1)
})

test('the results of all parts come back in order', async () => {
  expect(await runInParts(mapInParts([1, 2, 3, 4, 5], 2, (value) => value * 10))).toEqual([10, 20, 30, 40, 50])
  expect(await runInParts(mapInParts([], 2, (value) => value))).toEqual([])
})

test('while a thousand events are encoded, other requests are processed', async () => {
  let encoded = 0
  const appended: NewRecord[] = []
  const commands = createCommands({
    codec: { encode: () => Uint8Array.of(encoded++ % 256) },
    log: {
      append: async (records) => {
        appended.push(...records)
        return []
      },
    },
    outcomes: { untilOutcome: async () => 'pending' },
  })
  const meta = {
    eventId: 'e',
    key: 'k',
    occurredAt: 0,
    recordedAt: 0,
    source: 's',
    correlationId: null,
    causationId: null,
    actorId: 'a',
    subjectId: null,
    request: null,
  }
  const events = Array.from({ length: 1_000 }, (): Event => ({ type: 'T', meta, data: {}, personal: null }))
  const appending = commands.append(events)
  const seen: number[] = []
  while (appended.length === 0) {
    seen.push(encoded)
    await nextTurn()
  }
  await appending
  expect(seen.length).toBeGreaterThanOrEqual(19)
  expect(Math.max(...seen.map((count, nth) => count - (seen[nth - 1] ?? 0)))).toBeLessThanOrEqual(50)
  expect(appended.map(({ value }) => value[0])).toEqual(events.map((_, nth) => nth % 256))
})
