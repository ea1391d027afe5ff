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

  test('have no table with a name of the program', () => {
    const table = { ...meals.table, name: 'tributary-control' }
    expect(refusal([other({ table })])).toMatchObject({
      code: 'bad-config',
      message: expect.stringMatching(/^The domain food has the table tributary-control\. .*Rename/),
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

  test('know which of them is the series of another: a main domain that declares points itself is none', () => {
    const { series } = scalesRecord
    const domains = createDomains([scalesRecord, other(series?.domain.series && { series: series.domain.series })])
    expect([...domains.all.map(({ name }) => [name, domains.isSeries(name)])]).toEqual([
      ['scales', false],
      [series?.domain.name, true],
      ['food', false],
    ])
  })
})
