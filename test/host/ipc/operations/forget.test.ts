import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createDomains } from '../../../../domains/domains.ts'
import { mealsRecord } from '../../../../domains/meals.ts'
import { readConfig, type Config } from '../../../../host/config/config.ts'
import { createPerform } from '../../../../host/ipc/handlers.ts'
import { noOutput } from '../../../../host/ipc/operations.ts'
import { forgetPartsOf } from '../../../../host/ipc/operations/forget.ts'
import { openRuntime, type Runtime } from '../../../../host/wiring/runtime.ts'
import { createOutput } from '../../../../cli/output.ts'
import { upgrade } from '../../../../host/serving/upgrade.ts'
import { systemClock } from '../../../../processors/adapters/system-clock.ts'
import { forget, type ForgetParts } from '../../../../processors/engine/people/forgetting.ts'
import { rebuild } from '../../../../processors/engine/rebuild/rebuild.ts'
import { verify } from '../../../../processors/engine/proof/verify.ts'
import { meals } from '../../../../processors/meals/domain.ts'
import { eventMeta } from '../../../../producers/http/event-meta.ts'
import { canonical, isTombstone } from '../../../../projections/item.ts'
import { openCodec } from '../../../../schemas/codec.ts'
import type { Event } from '../../../../schemas/event.ts'
import { filesContaining } from '../../../files-containing.ts'
import { prepared } from '../../../prepared.ts'
import { at, corrected, deleted, idOf, logged } from '../../../processors/meals/events.ts'

const WORDS = ['Ann ate secret soup', 'a note that is hidden', 'telephone of Ann', 'words of a correction']

const freshConfig = (): Config => {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return readConfig({ TRIBUTARY_DATA: folder })
}

const output = createOutput({ out: { write: () => true }, err: { write: () => true }, color: false, now: () => 0 })

const eventsOf = (user: string): readonly Event[] => {
  const meta = (index: number) =>
    eventMeta({
      user,
      now: at('2026-11-16T12:00:00.000Z') + index,
      source: 'test',
      correlationId: null,
      eventId: `${user}-${index}`,
    })
  const eatenAt = (index: number) => at('2026-11-16T08:00:00.000Z') + index * 1_000
  const personal = { mealSummary: WORDS[0] as string, emoji: '🥣', notes: WORDS[1] as string }
  const many = Array.from({ length: 100 }, (_, index) =>
    logged({ meta: meta(index), eatenAt: eatenAt(index), uid: 'u', personal }),
  )
  const gone = deleted({ meta: meta(100), mealId: idOf(eatenAt(3), 'u') })
  const moved = corrected({
    meta: meta(101),
    mealId: idOf(eatenAt(5), 'u'),
    eatenAt: eatenAt(5_000),
    personal: { mealSummary: null, emoji: null, notes: WORDS[3] as string, reason: WORDS[3] as string },
  })
  return [...many, gone, moved]
}

const append = async (runtime: Runtime, events: readonly Event[]): Promise<void> => {
  const { log, codec, serving } = runtime.pipeline('meals')
  await codec.keysFor?.(events)
  const positions = await log.append(events.map((event) => ({ key: event.meta.key, value: codec.encode(event) })))
  expect(await serving().outcomes.untilFolded(positions.at(-1) ?? { partition: 0, offset: 0 }, 30_000)).toBe(true)
}

const openWithProcessor = async (config: Config): Promise<Runtime> => {
  const runtime = await openRuntime({ config })
  await runtime.pipeline('meals').start('processor')
  return runtime
}

/** Opens a data folder with a running processor, and appends events of two people. */
const lived = async (config: Config): Promise<Runtime> => {
  const runtime = await openWithProcessor(config)
  const ofBob = eventsOf('bob')
    .slice(0, 3)
    .map((event) => ({ ...event, personal: { mealSummary: 'Bob ate bread', emoji: null, notes: null } }))
  await append(runtime, [...eventsOf('ann'), ...ofBob])
  await createPerform(runtime)(
    'token-create',
    { user: 'ann', domain: 'meals', scopes: 'read', name: WORDS[2] as string },
    noOutput(),
  )
  return runtime
}

const copyOfLived = prepared(async (folder) => (await lived(readConfig({ TRIBUTARY_DATA: folder }))).close())

/** The configuration of a copy of the folder that `lived` makes. */
const livedConfig = async (): Promise<Config> => readConfig({ TRIBUTARY_DATA: (await copyOfLived()).folder })

const partsOf = forgetPartsOf

const rebuilt = async (runtime: Runtime) => {
  const { domain, log, codec, control } = runtime.pipeline('meals')
  return rebuild({
    domain,
    log,
    codec,
    control,
    clock: systemClock,
    holder: 'test',
    served: runtime.pipeline('meals').serving().store,
    storage: runtime.adapters.buildStorage(domain),
  })
}

const differences = async (runtime: Runtime) => {
  const { log, codec, serving } = runtime.pipeline('meals')
  const scratch = await runtime.adapters.scratch(meals)
  const { differences: found } = await verify({
    domain: meals,
    log,
    codec,
    clock: systemClock,
    store: serving().store,
    scratch: scratch.store,
  })
  await scratch.remove()
  return found
}

const itemsOf = async (runtime: Runtime, generation: number) => {
  const found: string[] = []
  for await (const page of (await runtime.pipeline('meals').generation(generation)).store.scan())
    found.push(...page.filter((item) => item.PK.startsWith('USER#') && !isTombstone(item)).map(canonical))
  return found.sort()
}

describe('forgetting a person', () => {
  test('leaves no trace in any file, keeps the data of other people, and has the same result as a rebuild', async () => {
    const config = freshConfig()
    const runtime = await lived(config)
    await rebuilt(runtime)
    await runtime.pipeline('meals').refresh()
    const key = (await runtime.keys.store.load(['ann']))[0]?.key
    const secrets = [...WORDS, Buffer.from(key?.bytes ?? []), Buffer.from(key?.bytes ?? []).toString('hex')]
    await (await runtime.pipeline('meals').generation(2)).store.scrub?.()
    expect(filesContaining(config.data, secrets).length).toBeGreaterThan(1)
    const forgot = await forget(partsOf(runtime), 'ann')
    expect(forgot).toMatchObject({ was: 'known', parts: [], places: 1, items: 101, plain: 0, left: [] })
    expect(filesContaining(config.data, secrets)).toEqual([])
    expect(filesContaining(config.data, ['Bob ate bread']).length).toBeGreaterThan(0)
    expect(await differences(runtime)).toEqual([])
    expect(await itemsOf(runtime, 2)).toEqual(await itemsOf(runtime, 1))
    const { generation } = await rebuilt(runtime)
    expect(await itemsOf(runtime, generation)).toEqual(await itemsOf(runtime, 1))
    expect(await forget(partsOf(runtime), 'ann')).toMatchObject({ was: 'before', items: 0 })
    await runtime.close()
    expect(filesContaining(config.data, secrets)).toEqual([])
  })

  test('of an unknown person is reported, and changes nothing', async () => {
    const runtime = await openWithProcessor(await livedConfig())
    expect(await forget(partsOf(runtime), 'nobody')).toEqual({
      subject: 'nobody',
      was: 'unknown',
      parts: [],
      places: 0,
      items: 0,
      plain: 0,
      left: [],
    })
    await runtime.close()
  })

  test('a person who comes back gets a new key: new data is readable, and the old data stays removed', async () => {
    const config = await livedConfig()
    const runtime = await openWithProcessor(config)
    const first = (await runtime.keys.store.load(['ann']))[0]?.key?.id
    await forget(partsOf(runtime), 'ann')
    const meta = eventMeta({
      user: 'ann',
      now: at('2026-11-17T12:00:00.000Z'),
      source: 'test',
      correlationId: null,
      eventId: 'back',
    })
    await append(runtime, [
      logged({
        meta,
        eatenAt: at('2026-11-17T08:00:00.000Z'),
        uid: 'back',
        personal: { mealSummary: 'Ann is back', emoji: null, notes: null },
      }),
    ])
    expect((await runtime.keys.store.load(['ann']))[0]?.key?.id).not.toBe(first)
    expect(JSON.stringify(await itemsOf(runtime, 1))).toContain('Ann is back')
    expect(await differences(runtime)).toEqual([])
    const { generation } = await rebuilt(runtime)
    expect(await itemsOf(runtime, generation)).toEqual(await itemsOf(runtime, 1))
    await forget(partsOf(runtime), 'ann')
    expect(filesContaining(config.data, [...WORDS, 'Ann is back'])).toEqual([])
    await runtime.close()
  })

  test('rejects events with personal data meanwhile', async () => {
    const runtime = await openWithProcessor(await livedConfig())
    await runtime.keys.store.step('ann', 'forgetting')
    runtime.keys.ring.evict('ann')
    await expect(append(runtime, eventsOf('ann').slice(0, 1))).rejects.toMatchObject({
      code: 'person-being-forgotten',
      retriable: true,
    })
    await runtime.close()
  })

  test('a build that runs meanwhile is begun again, and nothing of the first one remains', async () => {
    const config = await livedConfig()
    const runtime = await openWithProcessor(config)
    const { domain, log, codec, control } = runtime.pipeline('meals')
    const buildStorage = runtime.adapters.buildStorage(domain)
    let forgot: Promise<unknown> | undefined
    const open: typeof buildStorage.open = async (generation) => {
      const target = await buildStorage.open(generation)
      // Forgets the person when the first build is complete, and before it is listed as complete.
      return {
        ...target,
        close: async () => {
          await target.close()
          await (forgot ??= forget(partsOf(runtime), 'ann'))
        },
      }
    }
    const made = await rebuild({
      domain,
      log,
      codec,
      control,
      clock: systemClock,
      holder: 'test',
      served: runtime.pipeline('meals').serving().store,
      storage: { ...buildStorage, open },
    })
    expect(made.generation).toBe(3)
    expect((await control.generations('meals')).map(({ generation }) => generation)).toEqual([1, 3])
    expect(await itemsOf(runtime, 3)).toEqual(await itemsOf(runtime, 1))
    await runtime.close()
    expect(filesContaining(config.data, WORDS)).toEqual([])
  })

  test('reports a generation that no processor follows; when it is dropped, the same command completes', async () => {
    const config = await livedConfig()
    const runtime = await openRuntime({
      config: {
        ...config,
        domains: createDomains([{ ...mealsRecord, domain: { ...meals, foldVersion: meals.foldVersion + 1 } }]),
      },
    })
    const pipeline = runtime.pipeline('meals')
    await upgrade(runtime, pipeline, { output, signal: new AbortController().signal })
    const parts = { ...partsOf(runtime), timeoutMs: 300 }
    const forgot = await forget(parts, 'ann')
    expect(forgot.left).toHaveLength(1)
    expect(forgot.left[0]).toContain('Generation 1 of meals')
    expect((await runtime.keys.store.load(['ann']))[0]).toMatchObject({ key: undefined, forgetting: true })
    await createPerform(runtime)('generations-drop', { domain: 'meals', generation: 1 }, noOutput())
    expect(await forget(parts, 'ann')).toMatchObject({ was: 'known', left: [] })
    await runtime.close()
    expect(filesContaining(config.data, WORDS)).toEqual([])
  })

  test('events that are older than the key store: their items lose the text, and the result reports that the log keeps it', async () => {
    const config = freshConfig()
    const { openEmbeddedLogs } = await import('../../../../host/wiring/embedded.ts')
    const { prepareFolder } = await import('../../../../host/folder/folder.ts')
    prepareFolder(config.data)
    const logs = await openEmbeddedLogs(config.data, 'write')
    const plain = openCodec()
    await (
      await logs.open(meals.topic)
    ).append(eventsOf('ann').map((event) => ({ key: 'ann', value: plain.encode(event) })))
    await logs.close()
    const runtime = await openWithProcessor(config)
    await append(runtime, eventsOf('bob').slice(0, 1))
    expect(JSON.stringify(await itemsOf(runtime, 1))).toContain(WORDS[0])
    expect(await forget(partsOf(runtime), 'ann')).toMatchObject({ was: 'known', items: 100, plain: 101, left: [] })
    expect(JSON.stringify((await itemsOf(runtime, 1)).filter((item) => item.includes('USER#ann')))).not.toContain(
      WORDS[0],
    )
    expect(await differences(runtime)).toEqual([])
    await runtime.close()
  })

  test('unencrypted personal data that is appended after the key store exists parks its key', async () => {
    const runtime = await openWithProcessor(await livedConfig())
    const { log, serving } = runtime.pipeline('meals')
    const [position] = await log.append([
      { key: 'cyd', value: openCodec().encode(logged({ meta: { key: 'cyd' }, uid: 'x' })) },
    ])
    expect(
      await serving().outcomes.untilOutcome({ partition: 0, offset: position?.offset ?? 0, key: 'cyd' }, 10_000),
    ).toMatchObject({ kind: 'parked', reason: expect.stringContaining('plain text') as string })
    await runtime.close()
  })
})

/** Wraps the parts. Counts the calls that change something, and throws before or after one of these calls, as if the process died. */
const dying = (parts: ForgetParts, at: number): { parts: ForgetParts; calls: () => number } => {
  let calls = 0
  const wrap = <T extends object>(target: T, names: readonly (keyof T)[]): T => {
    const wrapped = { ...target }
    for (const name of names) {
      const call = (target[name] as (...args: readonly unknown[]) => Promise<unknown>).bind(target)
      wrapped[name] = (async (...args: readonly unknown[]) => {
        if (calls++ === at) throw new Error('killed')
        const answer = await call(...args)
        if (calls++ === at) throw new Error('killed')
        return answer
      }) as T[keyof T]
    }
    return wrapped
  }
  const pipelines = new Map(
    [...parts.pipelines].map(([name, pipeline]) => [
      name,
      { ...pipeline, log: wrap(pipeline.log, ['append']), control: wrap(pipeline.control, ['endBuilds']) },
    ]),
  )
  return { parts: { ...parts, keys: wrap(parts.keys, ['load', 'ensureKeys', 'step']), pipelines }, calls: () => calls }
}

describe('forgetting that is interrupted', () => {
  test('at any of its steps, and run again, has the same result', { timeout: 120_000 }, async () => {
    const ends: string[] = []
    for (let step = 0, steps = 1; step < steps; step += 1) {
      const config = await livedConfig()
      const runtime = await openWithProcessor(config)
      const secret = Buffer.from((await runtime.keys.store.load(['ann']))[0]?.key?.bytes ?? []).toString('hex')
      const first = dying(partsOf(runtime), step)
      await expect(forget(first.parts, 'ann')).rejects.toThrow('killed')
      await runtime.close()
      const again = await openWithProcessor(config)
      const second = dying(partsOf(again), -1)
      await forget(second.parts, 'ann')
      if (step === 0) steps = second.calls()
      expect(filesContaining(config.data, [...WORDS, secret])).toEqual([])
      expect(await differences(again)).toEqual([])
      expect((await again.keys.store.load(['ann']))[0]).toMatchObject({ key: undefined, forgetting: false })
      ends.push(
        (await itemsOf(again, 1))
          .map((item) =>
            item
              .replace(/"_pos":\d+/, '')
              .replace(/"(revokedAt|createdAt)":"[^"]+"/, '')
              .replace(/GONE#PAT#[0-9a-f-]+/, 'GONE#PAT#'),
          )
          .join('\n'),
      )
      await again.close()
    }
    expect(ends.length).toBeGreaterThan(15)
    expect(new Set(ends).size).toBe(1)
  })
})

describe('a missing key store', () => {
  test('is reported when the folder is opened, and no new one is created', async () => {
    const config = await livedConfig()
    const { renameSync, existsSync } = await import('node:fs')
    renameSync(join(config.data, 'keys'), join(config.data, 'elsewhere'))
    for (let time = 0; time < 2; time += 1)
      await expect(openRuntime({ config })).rejects.toMatchObject({ code: 'key-store-gone' })
    expect(existsSync(join(config.data, 'keys'))).toBe(false)
    renameSync(join(config.data, 'elsewhere'), join(config.data, 'keys'))
    const runtime = await openWithProcessor(config)
    expect(await differences(runtime)).toEqual([])
    await runtime.close()
  })

  test('that is lost while the program runs: a rebuild fails with the reason, parks nothing, and shows nothing as forgotten', async () => {
    const config = await livedConfig()
    const runtime = await openWithProcessor(config)
    const { domain, log, control, serving } = runtime.pipeline('meals')
    const { createKeyring } = await import('../../../../processors/engine/people/keyring.ts')
    const empty = {
      ...runtime.keys.store,
      peek: () => undefined,
      load: (subjects: readonly string[]) => Promise.resolve(subjects.map(() => undefined)),
    }
    const codec = openCodec({ sealing: createKeyring(empty, { now: systemClock.now }).sealing('meals') })
    await expect(
      rebuild({
        domain,
        log,
        codec,
        control,
        clock: systemClock,
        holder: 'test',
        served: serving().store,
        storage: runtime.adapters.buildStorage(domain),
      }),
    ).rejects.toMatchObject({ code: 'key-missing' })
    expect((await control.generations('meals')).map(({ state }) => state)).toEqual(['following', 'building'])
    const found = await itemsOf(runtime, 2)
    expect(found.filter((item) => item.includes('PARKED#') || item.includes('"mealSummary":null'))).toEqual([])
    await runtime.close()
  })
})
