import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { openEmbeddedLogs } from '../../host/wiring/embedded.ts'
import type * as workers from '../../host/wiring/build-workers.ts'
import type { DomainRecord } from '../../domains/record.ts'
import { openCodec } from '../../schemas/codec.ts'
import { eventOf } from '../../testing/event.ts'
import { newPackage, smallPackage } from './package-of-domain.ts'
import { freshFolder, run, runOk } from './program.ts'

const selecting = (folder: string) => ({ TRIBUTARY_DOMAINS: folder, TRIBUTARY_DATA: join(freshFolder(), 'data') })

/** The source of a domain record with only the required fields. */
const SMALL = `
import { defineDomain } from 'tributary/domain'
export default defineDomain({
  domain: {
    name: 'small', topic: 'small.events', foldVersion: 1, projections: [], personal: () => undefined,
    table: { name: 'small', ttl: 'ttl', indexes: [] },
    partitions: { keyIn: (pk) => pk, example: 'SMALL#1' },
  },
})`

describe('a package of tributary new', () => {
  test('simulates its own domain in worker threads, and finds its own broken invariant', async () => {
    const folder = await newPackage('coffee')
    expect(await runOk(['simulate', '--seeds', '4'], selecting(folder))).toMatch(/^4 seeds, .* no rule broken$/)
    // Changes a copy of the package, because this process has loaded the modules of the first folder and does not load them again.
    const other = join(freshFolder(), 'coffee')
    cpSync(folder, other, { recursive: true, verbatimSymlinks: true })
    const broken = join(other, 'dist', 'simulation.js')
    writeFileSync(broken, readFileSync(broken, 'utf8').replace('own.length === count', 'false'))
    const { code, stdout } = await run(['simulate', '--seeds', '4'], selecting(other))
    expect([code, stdout]).toEqual([1, expect.stringContaining('is not the sum of its entries')])
  })

  test('is rebuilt by worker threads', async () => {
    const folder = await newPackage('tea')
    const { default: record } = (await import(pathToFileURL(join(folder, 'dist', 'record.js')).href)) as {
      readonly default: DomainRecord
    }
    const { domain } = record
    const { buildShared } = (await import(
      new URL('../../dist/host/wiring/build-workers.js', import.meta.url).href
    )) as typeof workers
    const data = freshFolder()
    const codec = openCodec({ folder: domain.schemas })
    const logs = await openEmbeddedLogs(data, 'write')
    const log = await logs.open(domain.topic)
    const events = Array.from({ length: 3_000 }, (_, index) =>
      eventOf('EntryAdded', {
        key: `user${index % 7}`,
        data: { entryId: `e${index}`, amount: 1 },
        personal: { note: null },
      }),
    )
    await log.append(events.map((event) => ({ key: event.meta.key, value: codec.encode(event) })))
    const built = await buildShared({ data, selection: folder }, domain, {
      log,
      codec,
      generation: 2,
      ends: new Map([[0, events.length]]),
      unsent: [],
      workers: 2,
      progress: () => {},
    })
    expect(built).toMatchObject({ events: 3_000, parked: [] })
    await logs.close()
  })

  test('is checked by doctor too', async () => {
    const folder = await newPackage('juice')
    const schema = join(folder, 'schemas', 'juice.avdl')
    const check = async (): Promise<unknown> => {
      const { stdout } = await run(['doctor', '--json'], selecting(folder))
      return stdout
        .split('\n')
        .map((line): unknown => JSON.parse(line || '{}'))
        .find((line) => (line as { check?: string }).check === 'schemas')
    }
    expect(await check()).toMatchObject({ ok: true })
    writeFileSync(schema, readFileSync(schema, 'utf8').replace('int amount;', 'string amount;'))
    expect(await check()).toMatchObject({ ok: false, detail: expect.stringContaining('tributary schemas check') })
  })

  test('gets no name that the program uses itself', async () => {
    for (const name of ['common', 'tributary', 'meals', 'scales'])
      expect(await run(['new', name, '--folder', freshFolder()], { TRIBUTARY_DOMAINS: 'expenses' })).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(`"${name}"`),
      })
  })
})

describe('TRIBUTARY_DOMAINS', () => {
  test('finds a package whose exports have only the condition import, by its path and by its name', async () => {
    const fields = { name: 'small-domain', exports: { '.': { import: './record.js' } } }
    const folder = smallPackage(fields, { module: SMALL })
    expect(await run(['token', 'list'], selecting(folder))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no-data-folder'),
    })
    const user = freshFolder()
    mkdirSync(join(user, 'node_modules'))
    symlinkSync(folder, join(user, 'node_modules', 'small-domain'))
    const { loadDomains } = (await import(new URL('../../dist/host/config/domains.js', import.meta.url).href)) as {
      loadDomains(selection: string, folder: string): Promise<{ readonly all: readonly { readonly name: string }[] }>
    }
    expect((await loadDomains('small-domain', user)).all).toMatchObject([{ name: 'small' }])
  })

  test('refuses a package that uses another version of tributary, and names both', async () => {
    const folder = smallPackage({ main: 'record.js' }, { module: SMALL, tributary: 'other-version' })
    const { code, stderr } = await run(['status'], selecting(folder))
    expect(code).toBe(1)
    expect(stderr).toContain('bad-config')
    expect(stderr).toContain(`uses tributary 99.0.0 in ${join(folder, 'node_modules', 'tributary')}/.`)
    expect(stderr).toMatch(/This program is tributary \d+\.\d+\.\d+ in /)
  })

  test('refuses a default export that defineDomain did not declare', async () => {
    const module = SMALL.replace(/import .*/, 'const defineDomain = (record) => record')
    expect(await run(['status'], selecting(smallPackage({ main: 'record.js' }, { module })))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/bad-config: .* default export is not the record of a domain.*defineDomain/),
    })
  })

  test('is not loaded by commands that need no domain, so a package can be built', async () => {
    const folder = await newPackage('broth')
    rmSync(join(folder, 'dist'), { recursive: true })
    const env = selecting(folder)
    expect(await run(['status'], env)).toMatchObject({ code: 1, stderr: expect.stringContaining('Is it built?') })
    const paths = ['--folder', join(folder, 'schemas'), '--types', join(folder, 'src', 'generated')]
    expect(await run(['schemas', 'codegen', '--check', ...paths], env)).toMatchObject({ code: 0, stderr: '' })
    expect(await run(['completion', 'bash'], env)).toMatchObject({ code: 0, stderr: '' })
    expect(await run(['new', 'soup', '--folder', freshFolder()], env)).toMatchObject({ code: 0, stderr: '' })
    expect(await run(['bench', 'nothing'], env)).toMatchObject({ code: 2 })
  })

  test('that selects no domain with a demo names none', async () => {
    const folder = smallPackage({ main: 'record.js' }, { module: SMALL })
    expect(await run(['demo'], selecting(folder))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Domains with a demo: none.'),
    })
  })
})
