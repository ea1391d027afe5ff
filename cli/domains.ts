import { meals } from '../processors/meals/domain.ts'
import type { DomainEdge } from '../producers/http/domain.ts'
import { mealsEdge } from '../producers/meals.ts'
import { userIn, userPartition } from '../projections/access/keys.ts'
import type { Domain } from '../projections/projection.ts'
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

const PARTITIONS: Readonly<Record<string, { readonly of: (key: string) => string; readonly keyIn: (pk: string) => string | undefined }>> = {
  meals: { of: userPartition, keyIn: userIn },
}

/** The partition whose items are derived from one key of a domain's log. */
export const partitionFor = (domain: string, key: string): string => PARTITIONS[domain]?.of(key) ?? key

/** The log key from which the items of a partition are derived; undefined where the name is none of the domain's. */
export const logKeyOf = (domain: string, pk: string): string | undefined => PARTITIONS[domain]?.keyIn(pk)
