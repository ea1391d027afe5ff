import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { events as eventsCommand } from '../../../../cli/commands/events.ts'
import { OUR_DOMAINS } from '../../../../domains/list.ts'
import { readConfig } from '../../../../host/config/config.ts'
import { lastOf } from '../../../../host/ipc/operations/events.ts'
import { createPerform } from '../../../../host/ipc/handlers.ts'
import { noOutput } from '../../../../host/ipc/operations.ts'
import { createOutput } from '../../../../cli/output.ts'
import { openRuntime } from '../../../../host/wiring/runtime.ts'
import { keyFileIn } from '../../../../host/wiring/sealing.ts'
import type { LogRecord } from '../../../../processors/engine/ports/log.ts'
import { eventMeta } from '../../../../producers/http/event-meta.ts'
import { at, logged } from '../../../processors/meals/events.ts'

const meal = (user: string, index: number, words: string) =>
  logged({
    meta: eventMeta({
      user,
      now: at('2026-11-16T12:00:00.000Z') + index,
      source: 'test',
      correlationId: null,
      eventId: `${user}-${index}`,
    }),
    eatenAt: at('2026-11-16T08:00:00.000Z') + index * 1_000,
    uid: 'u',
    personal: { mealSummary: words, emoji: null, notes: null },
  })

/** A log of several partitions in memory. `began` contains the offsets at which reads began. */
const partitioned = (partitions: readonly (readonly Pick<LogRecord, 'key' | 'timestamp'>[])[]) => {
  const records = partitions.map((rows, partition) =>
    rows.map((row, offset): LogRecord => ({ ...row, partition, offset, value: new Uint8Array() })),
  )
  const began: number[] = []
  const read = async function* (partition: number, from: number, to = Infinity) {
    began.push(from)
    yield (records[partition] ?? []).slice(from, to)
  }
  const readKey = async function* (key: string, from = 0) {
    for await (const batch of read(0, from)) yield batch.filter((record) => record.key === key)
  }
  const watermarks = records.map((rows, partition) => ({ partition, low: 0, high: rows.length }))
  const last = async (args: Parameters<typeof lastOf>[2]): Promise<readonly string[]> =>
    (await lastOf({ read, readKey }, watermarks, args)).map(({ partition, offset }) => `${partition}:${offset}`)
  return { began, last }
}

describe('events', () => {
  test('--last reports the newest events of all partitions in the order in which the log received them', async () => {
    const { last } = partitioned([
      [
        { key: 'a', timestamp: 1 },
        { key: 'a', timestamp: 5 },
        { key: 'a', timestamp: 3 },
      ],
      [
        { key: 'b', timestamp: 2 },
        { key: 'b', timestamp: 4 },
        { key: 'b', timestamp: 6 },
      ],
    ])
    expect(await last({ last: 4 })).toEqual(['1:1', '0:1', '0:2', '1:2'])
    expect(await last({ last: 100 })).toHaveLength(6)
  })

  test('--last reads from near the end, and further back only while it has too few of a key', async () => {
    const { last, began } = partitioned([
      Array.from({ length: 100_000 }, (_, index) => ({
        key: index % 30_000 === 0 ? 'rare' : 'common',
        timestamp: index,
      })),
    ])
    expect(await last({ last: 2 })).toEqual(['0:99998', '0:99999'])
    expect(began).toEqual([99_998])
    expect(await last({ key: 'common', last: 1 })).toEqual(['0:99999'])
    expect(began.slice(1)).toEqual([90_000])
    expect(await last({ key: 'rare', last: 3 })).toEqual(['0:30000', '0:60000', '0:90000'])
    expect(began.slice(2)).toEqual([90_000, 20_000])
    expect(await last({ last: 2, to: 50_000 })).toEqual(['0:49998', '0:49999'])
  })

  test('personal data is shown if its key exists; it is printed as (forgotten) if it is forgotten, and as (sealed) if its key is missing', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tributary-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const env = { TRIBUTARY_DATA: folder }
    const config = readConfig(env)
    const runtime = await openRuntime({ config })
    const { log, codec, start } = runtime.pipeline('meals')
    await start('processor')
    const meals = [meal('ann', 1, 'secret soup'), meal('bob', 2, 'hidden bread')]
    await codec.keysFor?.(meals)
    await log.append(meals.map((event) => ({ key: event.meta.key, value: codec.encode(event) })))
    await createPerform(runtime)('forget', { subject: 'ann' }, noOutput())
    await runtime.close()
    const shown = async (): Promise<readonly string[]> => {
      let text = ''
      const output = createOutput({
        out: { write: (part) => (text += part) },
        err: { write: () => true },
        color: false,
        now: () => 0,
      })
      await eventsCommand(
        { env, domains: OUR_DOMAINS, output, input: process.stdin, signal: new AbortController().signal },
        { domain: 'meals' },
      )
      return text.split('\n').filter((line) => line.includes(' MealLogged '))
    }
    expect(await shown()).toEqual([
      expect.stringMatching(/ personal \(forgotten\)$/),
      expect.stringMatching(/ personal \{"mealSummary":"hidden bread","emoji":null,"notes":null\}$/),
    ])
    loseKeys(keyFileIn(folder), 'bob')
    expect(await shown()).toEqual([
      expect.stringMatching(/ personal \(forgotten\)$/),
      expect.stringMatching(/ personal \(sealed\)$/),
    ])
  }, 60_000)
})

/** Makes the keys of a person missing: gives them to another person in the key file. The file keeps its length, because the program checks it. */
const loseKeys = (path: string, subject: string): void =>
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll(`"${subject}"`, `"${'x'.repeat(subject.length)}"`))
