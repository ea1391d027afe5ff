import { describe, expect, test } from 'vitest'
import { createDomains } from '../../domains/domains.ts'
import { mealsRecord } from '../../domains/meals.ts'
import { configurableEdge, type DomainRecord } from '../../domains/record.ts'
import { scalesRecord } from '../../domains/scales.ts'
import { requireDistinctVariables } from '../../host/config/variables.ts'
import { variable } from '../../producers/variables.ts'
import type { Domain } from '../../projections/projection.ts'

const { domain: meals } = mealsRecord
const other = (parts: Partial<Domain> = {}): DomainRecord => ({
  ...mealsRecord,
  domain: { ...meals, name: 'food', topic: 'food.events', table: { ...meals.table, name: 'food' }, ...parts },
})

const refusal = (records: readonly DomainRecord[]): unknown => {
  try {
    requireDistinctVariables(createDomains(records))
    return undefined
  } catch (error) {
    return error
  }
}

describe('domains that run together', () => {
  test('have different names, tables and log topics', () => {
    expect(refusal([mealsRecord, other()])).toBeUndefined()
    for (const [parts, text] of [
      [{ name: meals.name }, 'have the name meals'],
      [{ table: meals.table }, `Both the domain meals and the domain food have the table ${meals.table.name}.`],
      [{ topic: meals.topic }, `Both the domain meals and the domain food have the log topic ${meals.topic}.`],
    ] as const)
      expect(refusal([mealsRecord, other(parts)])).toMatchObject({
        code: 'bad-config',
        message: expect.stringContaining(text),
      })
  })

  test.each(['tributary-control', 'CommitCollectSessions'])('have no table with a name of the program: %s', (name) => {
    const table = { ...meals.table, name }
    expect(refusal([other({ table })])).toMatchObject({
      code: 'bad-config',
      message: expect.stringMatching(new RegExp(`^The domain food has the table ${name}\\. .*Rename`)),
    })
  })

  test('declare different variables, and none of the program', () => {
    const declaring = (record: DomainRecord, name: string): DomainRecord => ({
      ...record,
      edge: configurableEdge({ [name]: variable((text) => text, '') }, () => ({
        edge: () => {
          throw new Error('not configured')
        },
        checks: [],
      })),
    })
    const key = 'TRIBUTARY_FOOD_KEY'
    expect(refusal([declaring(mealsRecord, key), declaring(other(), 'TRIBUTARY_OTHER_KEY')])).toBeUndefined()
    expect(refusal([declaring(mealsRecord, key), declaring(other(), key)])).toMatchObject({
      code: 'bad-config',
      message: expect.stringContaining(
        `Both the domain meals and the domain food have the environment variable ${key}.`,
      ),
    })
    expect(refusal([declaring(other(), 'TRIBUTARY_HTTP')])).toMatchObject({
      code: 'bad-config',
      message: expect.stringContaining(
        'Both this program and the domain food have the environment variable TRIBUTARY_HTTP.',
      ),
    })
  })

  test('know which of them only fold the log of another domain: a main domain that declares points itself does not', () => {
    const { series } = scalesRecord
    const audit: Domain = { ...meals, name: 'audit', topic: 'food.events', table: { ...meals.table, name: 'audit' } }
    const food = { ...other(series?.series && { series: series.series }), also: [audit] }
    const domains = createDomains([scalesRecord, food])
    expect(domains.all.map(({ name }) => [name, domains.isFurther(name)])).toEqual([
      ['scales', false],
      ['scales-series', true],
      ['food', false],
      ['audit', true],
    ])
    expect(domains.recordOf('audit')).toBe(food)
    expect(() => domains.importerOf('audit')).toThrow('The domain audit has no import.')
    expect(() => domains.appendRulesOf('audit')).toThrow('append to food, whose log it folds')
    expect(domains.formatterOf('audit', 'SUMMARY')).toBeUndefined()
  })

  test('have the same log topic as the domains that fold their log', () => {
    const audit: Domain = { ...meals, name: 'audit', table: { ...meals.table, name: 'audit' } }
    expect(refusal([{ ...other(), also: [audit] }])).toMatchObject({
      code: 'bad-config',
      message: expect.stringMatching(/^The domain audit has the log topic meals\.events, .* food\.events/),
    })
  })
})
