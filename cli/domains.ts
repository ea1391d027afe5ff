import { meals } from '../processors/meals/domain.ts'
import type { DomainEdge } from '../producers/http/domain.ts'
import { mealsEdge } from '../producers/meals.ts'
import { userIn, userPartition } from '../projections/access/keys.ts'
import type { Item } from '../projections/item.ts'
import type { Domain } from '../projections/projection.ts'
import { logKeyOf as scalesLogKeyOf } from '../projections/scales/keys.ts'
import { Fault } from '../schemas/fault.ts'

/** Every domain of the program, in one place. */
export const DOMAINS: readonly Domain[] = [meals]

/** A domain as a command names it. */
export const domainNamed = (name: string): Domain => {
  const domain = DOMAINS.find((each) => each.name === name)
  if (domain === undefined) throw unknownDomain(name, DOMAINS.map((each) => each.name))
  return domain
}

export const unknownDomain = (name: string, known: readonly string[]): Fault =>
  new Fault('bad-usage', `There is no domain "${name}". There ${known.length === 1 ? 'is' : 'are'}: ${known.join(', ')}.`)

export const EDGES: Readonly<Record<string, Pick<DomainEdge, 'name' | 'routes' | 'access'>>> = { meals: mealsEdge }

interface Places {
  /** Every partition that holds items of one log key; absent where only an item itself tells whose it is. */
  readonly of?: (key: string) => readonly string[]
  readonly keyIn: (pk: string, item?: Item) => string | undefined
  readonly example: string
}

const PLACES: Readonly<Record<string, Places>> = {
  meals: { of: (user) => [userPartition(user)], keyIn: userIn, example: 'USER#ada' },
  scales: { keyIn: scalesLogKeyOf, example: 'LOCATION#loc-001, KEG#keg-20261116-4f0k2m9x1z or DEVICE#SCALE-0042' },
}

/** The partitions with the items that are derived from these keys of a domain's log; undefined where all must be looked at. */
export const partitionsFor = (domain: string, keys: readonly string[]): readonly string[] | undefined => {
  const of = PLACES[domain]?.of
  return of && keys.flatMap(of)
}

/** The log key from which an item, or every item of a partition, is derived; undefined where that cannot be told. */
export const logKeyOf = (domain: string, pk: string, item?: Item): string | undefined => PLACES[domain]?.keyIn(pk, item)

export const partitionExample = (domain: string): string => PLACES[domain]?.example ?? 'USER#ada'
