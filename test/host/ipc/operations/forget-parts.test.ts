import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createDomains } from '../../../../domains/domains.ts'
import { readConfig, type Config } from '../../../../host/config/config.ts'
import { forgetPartsOf } from '../../../../host/ipc/operations/forget.ts'
import { openRuntime, type Runtime } from '../../../../host/wiring/runtime.ts'
import { systemClock } from '../../../../processors/adapters/system-clock.ts'
import { forget, type ForgetParts } from '../../../../processors/engine/people/forgetting.ts'
import { verify } from '../../../../processors/engine/proof/verify.ts'
import { canonical, isTombstone } from '../../../../projections/item.ts'
import type { Event } from '../../../../schemas/event.ts'
import { BREAKFAST, deleted, idOf, logged } from '../../../processors/meals/events.ts'
import { filesContaining } from '../../../files-containing.ts'
import { prepared } from '../../../prepared.ts'
import { noteAudit, notes } from './notes.ts'

const DOMAINS = createDomains([{ domain: notes, also: [noteAudit] }])
const NAMES = [notes.name, noteAudit.name]

const freshConfig = (): Config => {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return { ...readConfig({ TRIBUTARY_DATA: folder }), domains: DOMAINS }
}

const open = async (config: Config): Promise<Runtime> => {
  const runtime = await openRuntime({ config })
  for (const name of NAMES) await runtime.pipeline(name).start('processor')
  return runtime
}

const START = Date.parse('2026-11-16T12:00:00.000Z')
let count = 0
/** An event with a note. Only its personal data contains the text of the note. */
const noteOf = (subject: string, note: string, { key = 'ann', uid = `n${count}` } = {}): Event =>
  logged({
    meta: { key, subjectId: subject, actorId: null, eventId: `${key} ${uid}`, recordedAt: START + (count += 1) },
    uid,
    personal: { mealSummary: 'Note', emoji: null, notes: note },
  })

const append = async (runtime: Runtime, events: readonly Event[]): Promise<void> => {
  const { log, codec } = runtime.pipeline('notes')
  await codec.keysFor?.(events)
  const positions = await log.append(events.map((event) => ({ key: event.meta.key, value: codec.encode(event) })))
  const last = positions.at(-1) ?? { partition: 0, offset: 0 }
  for (const name of NAMES) expect(await runtime.pipeline(name).serving().outcomes.untilFolded(last, 30_000)).toBe(true)
}

const itemsOf = async (runtime: Runtime): Promise<readonly string[]> => {
  const found: string[] = []
  for (const name of NAMES)
    for await (const page of runtime.pipeline(name).serving().store.scan())
      found.push(...page.filter((item) => item.PK.startsWith('USER#')).map(canonical))
  return found
}

const differences = async (runtime: Runtime) => {
  const found = []
  for (const name of NAMES) {
    const { domain, log, codec, serving } = runtime.pipeline(name)
    const scratch = await runtime.adapters.scratch(domain)
    const parts = { domain, log, codec, clock: systemClock, store: serving().store, scratch: scratch.store }
    found.push(...(await verify(parts)).differences)
    await scratch.remove()
  }
  return found
}

/** Counts the appends and the events of `PersonForgotten`. */
const counting = (parts: ForgetParts) => {
  const appends: number[] = []
  const pipelines = new Map(
    [...parts.pipelines].map(([name, pipeline]) => [
      name,
      {
        ...pipeline,
        log: {
          ...pipeline.log,
          append: (records: Parameters<typeof pipeline.log.append>[0]) => {
            appends.push(records.length)
            return pipeline.log.append(records)
          },
        },
      },
    ]),
  )
  return { parts: { ...parts, pipelines }, appends }
}

/** The account of ann, and two links to an outside service: the notes of each have their own words. */
const lived = async (runtime: Runtime): Promise<void> => {
  await append(runtime, [
    noteOf('ann~account', 'words of the account'),
    noteOf('ann~strava~1', 'first link one'),
    noteOf('ann~strava~1', 'first link two'),
    noteOf('ann~strava~1', 'first link deleted', { uid: 'gone' }),
    noteOf('ann~strava~2', 'second link'),
    noteOf('ann~strava~1', 'first link elsewhere', { key: 'group' }),
    deleted({
      meta: { key: 'ann', subjectId: null, recordedAt: START + (count += 1) },
      mealId: idOf(BREAKFAST, 'gone'),
    }),
  ])
  const { secrets } = runtime.keys.store
  await secrets.write('ann~strava~1', 'token', { expect: 0, value: 'token of the first link' })
  await secrets.write('ann~strava~2', 'token', { expect: 0, value: 'token of the second link' })
}

const copyOfLived = prepared(async (folder) => {
  const runtime = await open({ ...readConfig({ TRIBUTARY_DATA: folder }), domains: DOMAINS })
  await lived(runtime)
  await runtime.close()
})

const FIRST = ['first link', 'token of the first link', Buffer.from('token of the first link').toString('base64')]

describe('forgetting a part of a person', () => {
  test('removes its data from every domain of the topic, its secrets and its tombstones, and keeps the rest', async () => {
    const config = freshConfig()
    const runtime = await open(config)
    await lived(runtime)
    expect((await itemsOf(runtime)).filter((item) => item.includes('first link')).length).toBeGreaterThan(6)
    expect(await forget(forgetPartsOf(runtime), 'ann~strava~1')).toEqual({
      subject: 'ann~strava~1',
      was: 'known',
      parts: [],
      places: 2,
      items: 8,
      plain: 0,
      left: [],
    })
    const left = await itemsOf(runtime)
    expect(left.filter((item) => item.includes('first link'))).toEqual([])
    expect(left.join('\n')).toContain('words of the account')
    expect(left.join('\n')).toContain('second link')
    expect(left.map((item) => JSON.parse(item) as never).filter(isTombstone)).toEqual([])
    expect(await differences(runtime)).toEqual([])
    expect(await runtime.keys.store.secrets.read('ann~strava~1', 'token')).toBeUndefined()
    expect(await runtime.keys.store.secrets.read('ann~strava~2', 'token')).toMatchObject({ version: 1 })
    await runtime.close()
    expect(filesContaining(config.data, FIRST)).toEqual([])
    expect(filesContaining(config.data, ['second link']).length).toBeGreaterThan(0)
  })

  test('closes a numbered part for ever, also if it never had data', async () => {
    const runtime = await open(freshConfig())
    await lived(runtime)
    await forget(forgetPartsOf(runtime), 'ann~strava~1')
    expect(await forget(forgetPartsOf(runtime), 'ann~strava~9')).toMatchObject({ was: 'unknown', left: [] })
    for (const part of ['ann~strava~1', 'ann~strava~9'])
      await expect(append(runtime, [noteOf(part, `late ${part}`)])).rejects.toMatchObject({
        code: 'part-forgotten',
        retriable: false,
      })
    expect(await forget(forgetPartsOf(runtime), 'ann~strava~1')).toMatchObject({ was: 'before', items: 0 })
    await append(runtime, [noteOf('ann~strava~3', 'third link')])
    await runtime.close()
  })
})

describe('forgetting a person with parts', () => {
  test('forgets every part, also if the person has no data of their own', async () => {
    const config = freshConfig()
    const runtime = await open(config)
    await lived(runtime)
    const parts = ['ann~account', 'ann~strava~1', 'ann~strava~2']
    expect(await forget(forgetPartsOf(runtime), 'ann')).toMatchObject({ was: 'known', parts, left: [] })
    expect(await itemsOf(runtime)).toEqual([])
    expect(await differences(runtime)).toEqual([])
    await expect(append(runtime, [noteOf('ann~strava~2', 'late')])).rejects.toMatchObject({ code: 'part-forgotten' })
    await append(runtime, [noteOf('ann~account', 'ann is back')])
    expect(await forget(forgetPartsOf(runtime), 'ann')).toMatchObject({
      was: 'known',
      parts: ['ann~account'],
      left: [],
    })
    expect(await forget(forgetPartsOf(runtime), 'ann')).toMatchObject({ parts: [], left: [] })
    await runtime.close()
    expect(filesContaining(config.data, [...FIRST, 'second link', 'words of the account', 'ann is back'])).toEqual([])
  })

  test('keeps other people whose ids begin with the same letters', async () => {
    const runtime = await open(freshConfig())
    await append(runtime, [noteOf('ann~strava~1', 'of ann'), noteOf('anna~strava~1', 'of anna', { key: 'anna' })])
    await forget(forgetPartsOf(runtime), 'ann')
    expect((await itemsOf(runtime)).join('\n')).toContain('of anna')
    await runtime.close()
  })

  test('is refused for a subject of the program', async () => {
    const runtime = await open(freshConfig())
    await runtime.keys.store.secrets.write('~activities', 'pepper', { expect: 0, value: 'x' })
    await expect(forget(forgetPartsOf(runtime), '~activities')).rejects.toMatchObject({ code: 'subject-of-program' })
    expect(await runtime.keys.store.secrets.read('~activities', 'pepper')).toEqual({ version: 1, value: 'x' })
    await runtime.close()
  })

  test('interrupted between any two steps and run again, has the same result', { timeout: 120_000 }, async () => {
    // Three parts, three steps of the key store, before and after each.
    for (let step = 0; step < 18; step += 1) {
      const config = { ...readConfig({ TRIBUTARY_DATA: (await copyOfLived()).folder }), domains: DOMAINS }
      const runtime = await open(config)
      let calls = 0
      const { keys } = forgetPartsOf(runtime)
      const dying: ForgetParts = {
        ...forgetPartsOf(runtime),
        keys: {
          ...keys,
          step: async (...args) => {
            if (calls++ === step) throw new Error('killed')
            await keys.step(...args)
            if (calls++ === step) throw new Error('killed')
          },
        },
      }
      await expect(forget(dying, 'ann')).rejects.toThrow('killed')
      await runtime.close()
      const again = await open(config)
      expect(await forget(forgetPartsOf(again), 'ann')).toMatchObject({ left: [] })
      expect(await itemsOf(again)).toEqual([])
      await again.close()
      expect(filesContaining(config.data, [...FIRST, 'second link', 'words of the account'])).toEqual([])
    }
  })
})

describe('a person with much data', () => {
  test('in many log keys: each page of log keys needs one append for the items, and one that shows that none is left', async () => {
    const runtime = await open(freshConfig())
    await append(
      runtime,
      Array.from({ length: 450 }, (_, index) => noteOf('ann~strava~1', `note ${index}`, { key: `group-${index}` })),
    )
    const { parts, appends } = counting(forgetPartsOf(runtime))
    expect(await forget(parts, 'ann~strava~1')).toMatchObject({ places: 451, items: 900, left: [] })
    // Two sweeps of three pages, and of the log key with the id of the person.
    expect(appends).toEqual([200, 200, 50, 1, 200, 200, 50, 1])
    expect(await itemsOf(runtime)).toEqual([])
    await runtime.close()
  })

  test('in one log key: one append names all items, 40 in each event', async () => {
    const runtime = await open(freshConfig())
    await append(
      runtime,
      Array.from({ length: 2_000 }, (_, index) => noteOf('ann~strava~1', `note ${index}`)),
    )
    const { parts, appends } = counting(forgetPartsOf(runtime))
    expect(await forget(parts, 'ann~strava~1')).toMatchObject({ places: 1, items: 4_000, left: [] })
    expect(appends).toEqual([100, 1])
    expect(await itemsOf(runtime)).toEqual([])
    expect(await differences(runtime)).toEqual([])
    await runtime.close()
  })
})
