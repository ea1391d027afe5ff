import { expenses } from '../processors/expenses/domain.ts'
import { meals } from '../processors/meals/domain.ts'
import { scales } from '../processors/scales/domain.ts'
import { scalesSeries } from '../processors/scales/series.ts'
import { expensesEdgeWith } from '../producers/expenses.ts'
import { expensesExporter } from '../producers/expenses/export.ts'
import type { Exporter } from '../producers/exporting.ts'
import type { ByHand } from '../producers/by-hand.ts'
import { expensesByHand } from '../producers/expenses/by-hand.ts'
import { mealsByHand } from '../producers/meals/by-hand.ts'
import { scalesByHand } from '../producers/scales/by-hand.ts'
import type { DomainEdge } from '../producers/http/domain.ts'
import { mealsEdge } from '../producers/meals.ts'
import { scalesEdge } from '../producers/scales.ts'
import { createTonCheck } from '../producers/ton/toncenter.ts'
import { userIn, userPartition } from '../projections/access/keys.ts'
import { balanceTelling } from '../projections/expenses/statement.ts'
import { expensesImporter } from '../projections/expenses/import/importer.ts'
import { logKeyOf as expensesLogKeyOf } from '../projections/expenses/keys.ts'
import type { Importer } from '../projections/importing.ts'
import type { Item } from '../projections/item.ts'
import { mealsImporter } from '../projections/meals/importer.ts'
import type { Domain } from '../projections/projection.ts'
import { logKeyOf } from '../projections/scales/keys.ts'
import type { Telling } from '../projections/telling.ts'
import { Fault } from '../schemas/fault.ts'
import type { Config } from './config.ts'

/** What the program knows of one domain. */
export interface Listed {
  readonly domain: Domain
  /** Its routes and tokens; absent where nobody speaks to it over HTTP. */
  readonly edge?: EdgeParts | ((outside: Outside) => EdgeParts)
  /** The domain that has its series. */
  readonly series?: string
  readonly partition: Places
  /** How it takes over what other tables hold; absent where it does not. */
  readonly importer?: Importer
  /** How it gives out all it has of one key; absent where it does not. */
  readonly exporter?: Exporter
  /** How an operator appends one of its events; absent where another domain has the same log. */
  readonly byHand?: ByHand
  /** How some of its items are told to people. */
  readonly tellings?: readonly Telling[]
}

type EdgeParts = Pick<DomainEdge, 'name' | 'routes' | 'access' | 'refusals' | 'schemes' | 'webhooks' | 'live' | 'channels'>

/** What an edge is given of what lies outside the program. */
export interface Outside {
  readonly config: Pick<Config, 'telegram' | 'ton'>
  /** Called if an outside service does not answer. The caller gets the error, too. */
  failed(error: unknown): void
}

/** Where a domain's items lie. */
export interface Places {
  /** Every partition that holds items of one log key; absent where only an item itself tells whose it is. */
  readonly of?: (key: string) => readonly string[]
  /** The log key from which an item, or every item of a partition, is derived; undefined where that cannot be told. */
  readonly keyIn: (pk: string, item?: Item) => string | undefined
  readonly example: string
}

const expensesOf = ({ config: { telegram, ton }, failed }: Outside): EdgeParts => expensesEdgeWith({ telegram, ...(ton && { ton: createTonCheck({ ...ton, failed }) }) })

/** Every domain of the program, in one place. */
const LISTED: readonly Listed[] = [
  { domain: meals, edge: mealsEdge, partition: { of: (user) => [userPartition(user)], keyIn: userIn, example: 'USER#ada' }, importer: mealsImporter, byHand: mealsByHand },
  { domain: scales, edge: scalesEdge, series: scalesSeries.name, partition: { keyIn: logKeyOf, example: 'LOCATION#loc-001, KEG#keg-20261116-4f0k2m9x1z or DEVICE#SCALE-0042' }, byHand: scalesByHand },
  { domain: scalesSeries, partition: { keyIn: logKeyOf, example: 'LOCATION#loc-001 or KEG#keg-20261116-4f0k2m9x1z' } },
  { domain: expenses, edge: expensesOf, partition: { keyIn: expensesLogKeyOf, example: 'GROUP#0b6f3c1e-5d0a-4a53-9d53-6f1f0f7a2c11 or USER#4711' }, importer: expensesImporter, exporter: expensesExporter, byHand: expensesByHand, tellings: [balanceTelling] },
]

export const DOMAINS: readonly Domain[] = LISTED.map(({ domain }) => domain)

/** A domain as a command names it. */
export const domainNamed = (name: string): Domain => listed(name).domain

/** Absent, too, where only a test or a tutorial knows the domain. */
export const edgeOf = (name: string, outside: Outside): EdgeParts | undefined => {
  const edge = LISTED.find(({ domain }) => domain.name === name)?.edge
  return typeof edge === 'function' ? edge(outside) : edge
}

export const hasEdge = (name: string): boolean => LISTED.some(({ domain, edge }) => domain.name === name && edge !== undefined)

/** The domain that has the series of another; undefined where it has none. */
export const seriesDomainOf = (name: string): string | undefined => LISTED.find(({ domain }) => domain.name === name)?.series

export const placesOf = (name: string): Places => listed(name).partition

/** How an item is told, where its kind is told in a way of its own. */
export const tellingOf = (name: string, sk: string | undefined): Telling | undefined => listed(name).tellings?.find((telling) => sk?.startsWith(telling.sk) === true)

export const importerOf = (name: string): Importer => handOf(name, 'importer')
export const exporterOf = (name: string): Exporter => handOf(name, 'exporter')

export const byHandOf = (name: string): ByHand => {
  const { domain, byHand } = listed(name)
  if (byHand !== undefined) return byHand
  const same = LISTED.find((each) => each.byHand !== undefined && each.domain.topic === domain.topic)
  throw new Fault('bad-usage', `${name} has no log of its own${same === undefined ? '' : `: append to ${same.domain.name}, whose log it folds`}.`)
}

/** What some domains can do, or a Fault that names those. */
const handOf = <Hand extends 'importer' | 'exporter'>(name: string, hand: Hand): NonNullable<Listed[Hand]> => {
  const found = listed(name)[hand]
  if (found !== undefined) return found
  const [code, what] = hand === 'importer' ? ['import-unknown', 'imports'] : ['export-unknown', 'exports']
  const able = LISTED.filter((each) => each[hand] !== undefined).map(({ domain }) => domain.name)
  throw new Fault(code, `Nothing is known of ${what} of ${name}. There are ${what} of ${able.join(' and ')}.`)
}

const listed = (name: string): Listed => {
  const found = LISTED.find(({ domain }) => domain.name === name)
  if (found === undefined) throw unknownDomain(name, DOMAINS.map((each) => each.name))
  return found
}

export const unknownDomain = (name: string, known: readonly string[]): Fault =>
  new Fault('bad-usage', `There is no domain "${name}". There ${known.length === 1 ? 'is' : 'are'}: ${known.join(', ')}.`)
