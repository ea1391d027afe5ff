import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { readConfig } from '../../../../host/config/config.ts'
import { OUR_DOMAINS } from '../../../../domains/list.ts'
import { createPerform } from '../../../../host/ipc/handlers.ts'
import { noOutput } from '../../../../host/ipc/operations.ts'
import type { AppendArgs, Appended } from '../../../../host/ipc/operations/append.ts'
import type { EventRow } from '../../../../host/ipc/operations/events.ts'
import { openRuntime } from '../../../../host/wiring/runtime.ts'
import { checkAppend } from '../../../../producers/append-rules.ts'
import { isUnion, type Schema } from '../../../../schemas/avro.ts'
import { isFault } from '../../../../schemas/fault.ts'
import { readLock } from '../../../../schemas/lock.ts'
import type { Event } from '../../../../schemas/event.ts'
import { createRegistry } from '../../../../schemas/registry.ts'
import * as expenses from '../../../processors/expenses/events.ts'
import * as meals from '../../../processors/meals/events.ts'
import * as scales from '../../../processors/scales/events.ts'

const NAMES = ['meals', 'scales', 'expenses'] as const
const root = join(import.meta.dirname, '..', '..', '..', '..')

const MEAL = {
  mealId: '20261116T083000000Z-abc',
  eatenAt: '2026-11-16T08:30:00Z',
  tz: 'UTC',
  utcOffsetMinutes: 0,
  userDate: '2026-11-16',
  dayOverridden: false,
  dayRuleVersion: 1,
  calories: 250_000,
  protein: 0,
  carbs: 0,
  fat: 0,
  extended: [],
  dropped: [],
  personal: { mealSummary: 'Secret soup', emoji: null, notes: null },
}

const open = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-'))
  const runtime = await openRuntime({ config: readConfig({ TRIBUTARY_DATA: folder }) })
  onTestFinished(async () => {
    await runtime.close()
    rmSync(folder, { recursive: true, force: true })
  })
  for (const name of NAMES) await runtime.pipeline(name).start('processor')
  const append = (args: Omit<AppendArgs, 'domain'> & { domain?: string }): Promise<Appended> =>
    createPerform(runtime)('append', { domain: 'meals', ...args }, noOutput())
  const events = async (): Promise<readonly EventRow[]> => {
    const rows: EventRow[] = []
    await createPerform(runtime)('events', { domain: 'meals' }, { ...noOutput(), row: (row) => void rows.push(row) })
    return rows
  }
  return { folder, append, events }
}

describe('append', { timeout: 60_000 }, () => {
  test('appends one event, sealed as the edge seals it, and reports its position and the outcome', async () => {
    const { folder, append, events } = await open()
    const appended = await append({ type: 'MealLogged', key: 'ann', fields: MEAL })
    expect(appended).toMatchObject({ position: '0:0', outcome: { kind: 'applied' } })
    expect(await events()).toMatchObject([
      {
        type: 'MealLogged',
        event: {
          meta: { eventId: appended.eventId, source: 'command-line', actorId: null, subjectId: 'ann' },
          personal: { mealSummary: 'Secret soup' },
        },
      },
    ])
    const filesWithText = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      (name) =>
        name.startsWith('log') && name.endsWith('.mdb') && readFileSync(join(folder, name)).includes('Secret soup'),
    )
    expect(filesWithText).toEqual([])
  })

  test('reports what the fold refuses, with its code', async () => {
    const { append } = await open()
    expect(
      await append({ domain: 'expenses', type: 'GroupRenamed', key: 'no-such-group', fields: { title: 'Holiday' } }),
    ).toMatchObject({ position: null, outcome: { kind: 'refused', refusal: { code: 'group-not-found' } } })
  })

  test('distinguishes an event that changes no item from one that does, and refuses instants in the future', async () => {
    const { append } = await open()
    const keg = {
      tap: '14',
      keg_id: 'keg-a9',
      beer_id: 'stout',
      keg_type: 'half_barrel',
      full_lbs: 30,
      empty_lbs: 160,
      sg: 1.01,
    }
    const tapped = (tapped_at: string) =>
      append({ domain: 'scales', type: 'KegTapped', key: 'loc-1', fields: { ...keg, tapped_at } })
    expect(await tapped('2026-11-18T06:00:00Z')).toMatchObject({ changes: false, outcome: { kind: 'applied' } })
    await expect(tapped('2199-01-01T00:00:00Z')).rejects.toThrow('tapped_at of this KegTapped is in the future')
  })

  test('has no further effect with the same idempotency key, and refuses another event with that key', async () => {
    const { append } = await open()
    const first = await append({ type: 'MealLogged', key: 'ann', subject: 'ann', fields: MEAL, idempotencyKey: 'once' })
    expect(
      await append({ type: 'MealLogged', key: 'ann', subject: 'ann', fields: MEAL, idempotencyKey: 'once' }),
    ).toMatchObject({ outcome: { kind: 'duplicate', of: first.eventId } })
    expect(
      await append({
        type: 'MealLogged',
        key: 'ann',
        subject: 'ann',
        fields: { ...MEAL, calories: 1 },
        idempotencyKey: 'once',
      }),
    ).toMatchObject({ outcome: { kind: 'refused', refusal: { code: 'idempotency-key-reused' } } })
  })

  test('refuses every event that the edge would not accept, and appends nothing', async () => {
    const { append, events } = await open()
    const refused = (args: Partial<AppendArgs>): Promise<string> =>
      append({ type: 'MealLogged', key: 'ann', subject: 'ann', fields: MEAL, ...args }).then(
        () => 'appended',
        (error: unknown) => (isFault(error) ? `${error.code}: ${error.message}` : String(error)),
      )
    expect(await refused({ domain: 'scales-series' })).toMatch(/^bad-usage: .*append to scales/)
    expect(await refused({ type: 'MealEaten' })).toMatch(/^bad-usage: .*no event "MealEaten".*MealLogged/)
    expect(await refused({ type: 'PersonForgotten', fields: { items: [] } })).toMatch(
      /^bad-event: Only the program appends a PersonForgotten\. Run tributary forget/,
    )
    expect(await refused({ actor: 'a b' })).toMatch(/^bad-usage: "a b" is not a user id/)
    expect(await refused({ fields: { ...MEAL, eatenAt: '2026-02-30T08:30:00Z' } })).toMatch(
      /^bad-event: The field eatenAt/,
    )
    expect(await refused({ fields: { ...MEAL, userDate: '2026-02-30' } })).toMatch(
      /^bad-event: .*userDate must be a day/,
    )
    expect(await refused({ at: Date.UTC(2200, 0, 1) })).toBe('bad-usage: --at must be an instant from 1900 to now.')
    expect(await refused({ key: 'a b' })).toMatch(/^bad-event: "a b" is not a key/)
    expect(await refused({ fields: { ...MEAL, calories: -1 } })).toMatch(/^bad-event: .*calories must be between 0/)
    expect(await refused({ fields: { ...MEAL, tz: 'Mars/Base' } })).toMatch(
      /^bad-event: .*tz must be an IANA time zone/,
    )
    expect(await refused({ fields: { ...MEAL, calories: 1.5 } })).toMatch(
      /^bad-event: .*calories of a MealLogged must be a whole number/,
    )
    expect(await refused({ fields: { ...MEAL, colour: 'red' } })).toMatch(/^bad-event: .*no field colour/)
    expect(await refused({ fields: { ...MEAL, mealId: 'x' } })).toMatch(/^bad-event: .*mealId/)
    expect(
      await refused({ fields: { ...MEAL, personal: { ...MEAL.personal, mealSummary: 'x'.repeat(1_001) } } }),
    ).toMatch(/^bad-event: .*personal\.mealSummary/)
    expect(
      await refused({
        domain: 'expenses',
        type: 'ProfileTold',
        fields: { at: 1, personal: { name: 'Ann', username: null, avatarUrl: null } },
      }),
    ).toMatch(/^bad-event: Only the program appends a ProfileTold/)
    expect(await refused({ subject: 'bob' })).toMatch(/^bad-usage: .*--subject must be the same as --key/)
    expect(await events()).toEqual([])
  })

  test('checks that the parts of an expense sum up to it', () => {
    const expense = {
      amountMinor: 100n,
      currency: 'EUR',
      exponent: 2,
      splits: [
        { userId: 'ann', minor: 60n },
        { userId: 'bob', minor: 30n },
      ],
    }
    const check = (data: object) => () =>
      checkAppend(OUR_DOMAINS.appendRulesOf('expenses'), {
        type: 'ExpenseRecorded',
        key: 'group',
        fields: { data: { ...expense, ...data }, personal: null },
        now: 0,
      })
    expect(check({})).toThrow('the splits sum up to 90')
    expect(check({ amountMinor: 90n })).not.toThrow()
    expect(check({ amountMinor: 90n, exponent: 3 })).toThrow('exponent must be 2')
  })
})

/** Events of every type that can be appended by hand. */
const EXAMPLES: Readonly<Record<(typeof NAMES)[number], readonly Event[]>> = {
  meals: [
    meals.logged(),
    meals.corrected(),
    meals.reassigned(),
    meals.deleted(),
    meals.restored(),
    meals.targetsChanged(),
    meals.nutrientChanged(),
  ],
  scales: [
    scales.opened(),
    scales.memberAdded(),
    scales.memberRemoved(),
    scales.claimed(),
    scales.status(),
    scales.telemetry(),
    scales.assigned(),
    scales.tapped(),
    scales.settings({ grace_period_secs: 0 }),
    scales.reading({ level_pct: 10 }),
    scales.acknowledged({ meta: { occurredAt: scales.NOW + 2 * scales.MINUTE } }),
    scales.calibrated(),
    scales.tared(),
    scales.corrected(),
    scales.voided(),
    scales.finished(),
    scales.beerDefined(),
    scales.beerChanged(),
    scales.weightsSet(),
    scales.beerRemoved(),
    scales.unassigned(),
    scales.tapRemoved(),
    scales.released(),
  ],
  expenses: [
    expenses.created(),
    expenses.joined('bob'),
    expenses.joined('cy'),
    expenses.renamed(),
    expenses.settingsChanged(),
    expenses.migrated(),
    expenses.invited(),
    expenses.revoked(),
    expenses.profileChanged('bob'),
    expenses.walletSet('bob'),
    expenses.recorded(),
    expenses.revised(),
    expenses.deleted(),
    expenses.restored(),
    expenses.proposed(),
    expenses.confirmed(),
    expenses.proposed({ settlementId: 's2' }),
    expenses.failed({ settlementId: 's2' }),
    expenses.currencyChanged(),
    expenses.removed('cy'),
    expenses.ownerChanged('bob'),
    expenses.left('bob'),
    expenses.archived(),
    expenses.unarchived(),
  ],
}

const typesOf = (name: (typeof NAMES)[number]): readonly string[] =>
  [...new Set(OUR_DOMAINS.named(name).projections.flatMap(({ folds }) => Object.keys(folds)))].filter(
    (type) => !Object.hasOwn(OUR_DOMAINS.appendRulesOf(name).internal, type),
  )

test.each(NAMES)('an event of every type of %s can be appended and is folded', { timeout: 60_000 }, async (name) => {
  expect([...new Set(EXAMPLES[name].map(({ type }) => type))].sort()).toEqual([...typesOf(name)].sort())
  const { append } = await open()
  const others: unknown[] = []
  for (const {
    type,
    meta: { key, subjectId, actorId, occurredAt },
    data,
    personal,
  } of EXAMPLES[name]) {
    const fields: unknown = JSON.parse(
      JSON.stringify({ ...(data as object), personal }, (_, value: unknown) =>
        typeof value === 'bigint' ? String(value) : value,
      ),
    )
    const { outcome } = await append({
      domain: name,
      type,
      key,
      fields,
      at: occurredAt,
      ...(subjectId !== null && { subject: subjectId }),
      ...(actorId !== null && { actor: actorId }),
    })
    if (outcome.kind !== 'applied') others.push({ type, outcome })
  }
  expect(others).toEqual([])
})

/** The names of all fields of an event that contain text or numbers, at any depth. Excludes `meta` and `personal`. */
const leavesOf = (schema: Schema, name: string): readonly string[] => {
  if (isUnion(schema)) return schema.flatMap((branch) => leavesOf(branch, name))
  if (typeof schema === 'string') return ['string', 'int', 'long', 'double'].includes(schema) ? [name] : []
  if (schema.type === 'record')
    return schema.fields
      .filter((field) => field.name !== 'meta' && field.name !== 'personal')
      .flatMap((field) => leavesOf(field.type, field.name))
  if (schema.type === 'array') return leavesOf(schema.items, name)
  if ('logicalType' in schema) return schema.logicalType === 'timestamp-millis' ? [] : [name]
  return []
}

test.each(NAMES)('every field of an event of %s that can be appended by hand has a limit', (name) => {
  const registry = createRegistry(readLock())
  const { fields } = OUR_DOMAINS.appendRulesOf(name)
  const schemas = typesOf(name).flatMap((type) => {
    const event = registry.event(type)
    return event === undefined
      ? []
      : [event.schema, ...(registry.personal(event) ? [registry.personal(event)?.schema as Schema] : [])]
  })
  expect(
    [...new Set(schemas.flatMap((schema) => leavesOf(schema, '')))].filter((field) => fields[field] === undefined),
  ).toEqual([])
})

test.each(NAMES)('no event that a timer of %s or the engine appends can be appended by hand', (name) => {
  const folder = join(root, 'processors', name)
  const source = readdirSync(folder)
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .join('\n')
  const armed = [...source.matchAll(/arm\(\{[^\n]*type: '(\w+)'/g)].map(([, type]) => type ?? '')
  if (name === 'scales') expect(armed.length).toBeGreaterThan(0)
  for (const type of [...armed, 'PersonForgotten', 'PatIssued'])
    expect(() =>
      checkAppend(OUR_DOMAINS.appendRulesOf(name), { type, key: 'ann', fields: { data: {}, personal: null }, now: 0 }),
    ).toThrow('Only the program appends')
})
