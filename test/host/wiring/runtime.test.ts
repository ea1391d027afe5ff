import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { readConfig } from '../../../host/config/config.ts'
import { createPerform } from '../../../host/ipc/handlers.ts'
import { noOutput } from '../../../host/ipc/operations.ts'
import { answerRequests } from '../../../host/ipc/requests.ts'
import { createOutput } from '../../../cli/output.ts'
import { keyFileIn } from '../../../host/wiring/sealing.ts'
import { openEdge } from '../../../host/serving/serve.ts'
import { openRuntime } from '../../../host/wiring/runtime.ts'
import type { Runtime, RuntimeOptions } from '../../../host/wiring/runtime.ts'
import { measureDomainStatus } from '../../../host/serving/domain-status.ts'
import { upgrade } from '../../../host/serving/upgrade.ts'
import { createDomains } from '../../../domains/domains.ts'
import { mealsRecord } from '../../../domains/meals.ts'
import { scalesRecord } from '../../../domains/scales.ts'
import { booksRecord } from '../../testing/books/record.ts'
import { systemClock } from '../../../processors/adapters/system-clock.ts'
import { rebuild } from '../../../processors/engine/rebuild/rebuild.ts'
import { meals } from '../../../processors/meals/domain.ts'
import { mintToken } from '../../../producers/access/pat.ts'
import { Fault } from '../../../schemas/fault.ts'

const freshConfig = () => {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return readConfig({ TRIBUTARY_DATA: folder })
}

const notes: string[] = []
const output = createOutput({
  out: { write: () => true },
  err: { write: (text) => notes.push(text) },
  color: false,
  now: () => 0,
})

const { signal } = new AbortController()

const withRuntime = async <T>(options: RuntimeOptions, use: (runtime: Runtime) => Promise<T>): Promise<T> => {
  const runtime = await openRuntime(options)
  return use(runtime).finally(() => runtime.close())
}
const collectRows = () => {
  const rows: unknown[] = []
  return { ...noOutput(), rows, row: (row: unknown) => void rows.push(row) }
}
const token = (runtime: Runtime, user: string, scopes = 'read') =>
  createPerform(runtime)('token-create', { user, domain: 'meals', scopes, name: 'n' }, noOutput())

describe('the runtime', () => {
  test('newer folds build their own generation before they serve, embedded', async () => {
    const config = freshConfig()
    const made = await withRuntime({ config }, async (runtime) => {
      await runtime.pipeline('meals').start('processor')
      return token(runtime, 'ann')
    })
    const newer = createDomains([{ ...mealsRecord, domain: { ...meals, foldVersion: meals.foldVersion + 1 } }])
    await withRuntime({ config: { ...config, domains: newer } }, async (runtime) => {
      const pipeline = runtime.pipeline('meals')
      await upgrade(runtime, pipeline, { output, signal })
      expect(pipeline.serving().generation).toBe(2)
      const received = collectRows()
      await createPerform(runtime)('token-list', {}, received)
      expect(received.rows).toMatchObject([{ id: made.id, user: 'ann' }])
      await token(runtime, 'bob')
      expect(await measureDomainStatus(runtime, pipeline)).toMatchObject({ generation: 2, lagEvents: 0 })
    })
    await withRuntime({ config: { ...config, domains: newer } }, async (runtime) => {
      await upgrade(runtime, runtime.pipeline('meals'), { output, signal })
      expect(runtime.pipeline('meals').serving().generation).toBe(2)
    })
    await withRuntime({ config }, async (runtime) => {
      const pipeline = runtime.pipeline('meals')
      await upgrade(runtime, pipeline, { output, signal })
      expect(pipeline.serving().generation).toBe(1)
      const received = collectRows()
      await createPerform(runtime)('token-list', {}, received)
      expect(received.rows).toMatchObject([{ user: 'ann' }, { user: 'bob' }])
    })
  })

  test('older folds without a complete generation of their own build one before they serve, embedded', async () => {
    const config = freshConfig()
    const newer = createDomains([{ ...mealsRecord, domain: { ...meals, foldVersion: meals.foldVersion + 1 } }])
    await withRuntime({ config: { ...config, domains: newer } }, async (runtime) => {
      await runtime.pipeline('meals').start('processor')
      await token(runtime, 'ann')
    })
    await withRuntime({ config }, async (runtime) => {
      await upgrade(runtime, runtime.pipeline('meals'), { output, signal })
      expect(await measureDomainStatus(runtime, runtime.pipeline('meals'))).toMatchObject({
        generation: 2,
        lagEvents: 0,
      })
    })
  })

  test('an edge whose release cannot read the items that serve answers 503 for that domain alone, until a flip back', async () => {
    const config = {
      ...freshConfig(),
      http: { host: '127.0.0.1', port: 0 },
      admin: { host: '127.0.0.1', port: 0 },
      mqtt: 'off' as const,
    }
    await withRuntime({ config }, () => Promise.resolve())
    const newer = createDomains([
      { ...mealsRecord, domain: { ...meals, foldVersion: meals.foldVersion + 1, readableFrom: meals.foldVersion + 1 } },
    ])
    await withRuntime({ config: { ...config, domains: newer } }, (runtime) =>
      upgrade(runtime, runtime.pipeline('meals'), { output, signal }),
    )
    await withRuntime({ config }, async (runtime) => {
      const serving = await openEdge(runtime, {
        edge: true,
        processor: false,
        live: false,
        logger: pino({ level: 'silent' }),
      })
      try {
        const bearer = (domain: string) => ({
          headers: { authorization: `Bearer ${mintToken(domain, randomBytes).token}` },
        })
        const unavailable = await fetch(`${serving.http}/v1/meals?day=2026-11-16`, bearer('meals'))
        expect([unavailable.status, unavailable.headers.get('retry-after'), await unavailable.json()]).toMatchObject([
          503,
          '5',
          { code: 'folds-newer' },
        ])
        expect(await (await fetch(`${serving.admin}/readyz`)).text()).toMatch(/meals/)
        expect((await fetch(`${serving.http}/api/groups`, bearer('expenses'))).status).toBe(401)
        await upgrade(runtime, runtime.pipeline('meals'), { output, signal })
        expect((await fetch(`${serving.http}/v1/meals?day=2026-11-16`, bearer('meals'))).status).toBe(401)
      } finally {
        await serving.stop()
      }
    })
  })

  test('a domain that declares points itself has its edge and its tokens', async () => {
    const points = scalesRecord.series?.series
    const domains = createDomains([{ ...mealsRecord, domain: { ...meals, ...(points && { series: points }) } }])
    const anyPort = { host: '127.0.0.1', port: 0 }
    const config = { ...freshConfig(), domains, http: anyPort, admin: anyPort, mqtt: 'off' as const }
    await withRuntime({ config }, async (runtime) => {
      await runtime.pipeline('meals').start('processor')
      expect(await token(runtime, 'ann')).toMatchObject({ user: 'ann', visible: true })
      const logger = pino({ level: 'silent' })
      const serving = await openEdge(runtime, { edge: true, processor: true, live: false, logger })
      const answer = await fetch(`${serving.http}/v1/meals?day=2026-11-16`)
      await serving.stop()
      expect(answer.status).toBe(401)
    })
  })

  test('an event that cannot be decoded parks only its key, is listed and shown, and other keys continue', async () => {
    await withRuntime({ config: freshConfig() }, async (runtime) => {
      const pipeline = runtime.pipeline('meals')
      await pipeline.start('processor')
      await pipeline.log.append([{ key: 'bad', value: Buffer.from('nonsense') }])
      await token(runtime, 'ann')
      expect(await runtime.metrics.text([])).toContain(
        'tributary_events_appended_total{domain="meals",source="command-line",type="PatIssued"} 1',
      )
      const received = collectRows()
      await createPerform(runtime)('parked-list', {}, received)
      expect(received.rows).toMatchObject([{ domain: 'meals', key: 'bad', code: 'not-wire-format' }])
      const [{ id }] = received.rows as [{ id: string }]
      expect(await createPerform(runtime)('parked-show', { id }, noOutput())).toMatchObject({
        id,
        bytes: Buffer.from('nonsense').toString('hex'),
        record: { fault: { code: 'not-wire-format' } },
      })
      expect(await createPerform(runtime)('parked-retry', { all: true }, noOutput())).toEqual({
        asked: 1,
        healed: 0,
        still: 1,
        pending: 0,
      })
      await createPerform(runtime)('parked-list', {}, received)
      expect(received.rows).toHaveLength(2)
    })
  })

  test('an append of the edge that fails is counted as a fault of its domain', async () => {
    const config = {
      ...freshConfig(),
      http: { host: '127.0.0.1', port: 0 },
      admin: { host: '127.0.0.1', port: 0 },
      mqtt: 'off' as const,
    }
    await withRuntime({ config }, async (runtime) => {
      const pipeline = runtime.pipeline('meals')
      await pipeline.start('processor')
      const { token: bearer } = await token(runtime, 'ann', 'write')
      const serving = await openEdge(runtime, {
        edge: true,
        processor: true,
        live: false,
        logger: pino({ level: 'silent' }),
      })
      try {
        vi.spyOn(pipeline.log, 'append').mockRejectedValue(
          new Fault('log-unavailable', 'The log does not answer.', { retriable: true }),
        )
        const refused = await fetch(`${serving.http}/v1/meals`, {
          method: 'POST',
          headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
          body: JSON.stringify({
            mealSummary: 'Oats',
            eatenAt: '2026-11-16T12:00:00Z',
            tz: 'UTC',
            calories: 1,
            protein: 0,
            carbs: 0,
            fat: 0,
          }),
        })
        expect([refused.status, await refused.json()]).toMatchObject([503, { code: 'log-unavailable' }])
        expect(await (await fetch(`${serving.admin}/metrics`)).text()).toMatch(
          /tributary_faults_total\{domain="meals",code="log-unavailable"\} [1-9]/,
        )
      } finally {
        await serving.stop()
      }
    })
  })

  test('a domain needs no edge, and then has no tokens', async () => {
    const config = { ...freshConfig(), http: { host: '127.0.0.1', port: 0 }, admin: { host: '127.0.0.1', port: 0 } }
    const withPlants = createDomains([mealsRecord, { domain: booksRecord.domain }])
    await withRuntime({ config: { ...config, domains: withPlants } }, async (runtime) => {
      const serving = await openEdge(runtime, {
        edge: true,
        processor: false,
        live: true,
        logger: pino({ level: 'silent' }),
      })
      const ready = await fetch(`${serving.admin}/readyz`).finally(() => serving.stop())
      expect(ready.status).toBe(200)
      const created = createPerform(runtime)(
        'token-create',
        { user: 'ann', domain: 'books', scopes: 'read', name: 'n' },
        noOutput(),
      )
      await expect(created).rejects.toMatchObject({
        code: 'bad-usage',
        message: expect.stringContaining('books has no tokens') as string,
      })
    })
  })

  test.each([
    ['tributary-control', 'control-gone'],
    ['tributary-ledger', 'ledger-gone'],
  ])('a lost %s is not created again (%s), and everything works when it is back', async (table, lost) => {
    const config = freshConfig()
    await withRuntime({ config }, () => Promise.resolve())
    const [there, away] = [join(config.data, 'tables', table), join(config.data, 'away')]
    renameSync(there, away)
    await expect(openRuntime({ config })).rejects.toMatchObject({
      code: lost,
      message: expect.stringContaining('Restore it') as string,
    })
    expect(existsSync(there)).toBe(false)
    renameSync(away, there)
    await withRuntime({ config }, () => Promise.resolve())
  })

  test('a truncated key store is refused and not changed, if it is cut between lines or within one', async () => {
    const config = freshConfig()
    await withRuntime({ config }, async (runtime) => {
      await runtime.pipeline('meals').start('processor')
      for (const user of ['ann', 'bob']) await token(runtime, user)
    })
    const path = keyFileIn(config.data)
    const whole = readFileSync(path, 'utf8')
    const lines = whole.split('\n')
    for (const cut of [`${lines[0]}\n`, whole.slice(0, -30)]) {
      writeFileSync(path, cut)
      await expect(openRuntime({ config })).rejects.toMatchObject({
        code: 'key-store-cut',
        message: expect.stringContaining(`it had ${whole.length} before`) as string,
      })
      expect(readFileSync(path, 'utf8')).toBe(cut)
    }
    writeFileSync(path, `${whole}{"of":"half writ`)
    await withRuntime({ config }, () => Promise.resolve())
    expect(readFileSync(path, 'utf8')).toBe(whole)
  })

  test('an older generation with damaged files is reported, left out and dropped, and delays nothing', async () => {
    const config = freshConfig()
    await withRuntime({ config }, async (runtime) => {
      await runtime.pipeline('meals').start('processor')
      await token(runtime, 'ann')
    })
    const newer = createDomains([{ ...mealsRecord, domain: { ...meals, foldVersion: meals.foldVersion + 1 } }])
    await withRuntime({ config: { ...config, domains: newer } }, (runtime) =>
      upgrade(runtime, runtime.pipeline('meals'), { output, signal }),
    )
    await withRuntime({ config: { ...config, domains: newer } }, async ({ adapters: { buildStorage }, pipeline }) => {
      // Builds another generation with the same folds, so that the processor follows it.
      const { domain, control, log, codec, serving } = pipeline('meals')
      await rebuild({
        domain,
        control,
        log,
        codec,
        clock: systemClock,
        holder: 'test',
        served: serving().store,
        storage: buildStorage(domain),
      })
    })
    truncateSync(join(config.data, 'tables', meals.table.name, 'g3', 'data.mdb'), 5_000)
    const failures: unknown[] = []
    await withRuntime(
      { config: { ...config, domains: newer }, observer: { failed: (_, error) => void failures.push(error) } },
      async (runtime) => {
        for (const role of ['processor', 'sender'] as const) await runtime.pipeline('meals').start(role)
        await token(runtime, 'bob')
        expect(failures).toMatchObject([{ code: 'data-damaged' }])
        const received = collectRows()
        await createPerform(runtime)('generations', {}, received)
        expect(received.rows).toMatchObject([
          { generation: 1 },
          { generation: 2, state: 'serving', lag: 0 },
          { generation: 3, state: 'damaged' },
        ])
        await createPerform(runtime)('generations-drop', { domain: 'meals', generation: 3 }, noOutput())
        await createPerform(runtime)('generations', {}, received)
        expect(received.rows).toHaveLength(5)
      },
    )
  })

  test('a process that folds nothing reports no rate', async () => {
    const config = { ...freshConfig(), http: { host: '127.0.0.1', port: 0 }, admin: { host: '127.0.0.1', port: 0 } }
    await withRuntime({ config: { ...config, domains: createDomains([mealsRecord]) } }, async (runtime) => {
      expect(await createPerform(runtime)('status', {}, noOutput())).toMatchObject([{ eventsPerSecond: null }])
      const serving = await openEdge(runtime, {
        edge: true,
        processor: true,
        live: true,
        logger: pino({ level: 'silent' }),
      })
      expect(await createPerform(runtime)('status', {}, noOutput()).finally(() => serving.stop())).toMatchObject([
        { eventsPerSecond: 0 },
      ])
    })
  })

  test('a request with an unknown operation is rejected as such', async () => {
    await withRuntime({ config: freshConfig() }, async (runtime) => {
      expect(() => answerRequests(createPerform(runtime))('dance', {}, noOutput())).toThrow(
        expect.objectContaining({ code: 'operation-unknown' }),
      )
    })
  })

  test('a request with an unknown method of the control table, or without an argument that its operation needs, is rejected', async () => {
    await withRuntime({ config: freshConfig() }, async (runtime) => {
      const answer = answerRequests(createPerform(runtime))
      expect(() => answer('control', { domain: 'meals', verb: 'dance', args: [] }, noOutput())).toThrow(
        expect.objectContaining({ code: 'operation-unknown' }),
      )
      expect(() => answer('forget', { subject: 7 }, noOutput())).toThrow(
        expect.objectContaining({ code: 'bad-request' }),
      )
      expect(await answer('folds', { domain: 'meals', added: true }, noOutput())).toBe(meals.foldVersion)
    })
  })
})
