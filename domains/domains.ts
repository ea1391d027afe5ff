import type { Importer } from '../projections/importing.ts'
import { ownerOf, requireDistinct } from '../producers/distinct.ts'
import type { Exporter } from '../producers/exporting.ts'
import type { AppendRules } from '../producers/append-rules.ts'
import type { ItemFormatter } from '../projections/item-formatter.ts'
import { DOMAIN_NAME_RULE, isDomainName } from '../projections/domain-name.ts'
import type { Domain } from '../projections/projection.ts'
import { isProgramTable, PROGRAM_TABLES, SESSIONS_TABLE_NAME } from '../projections/table.ts'
import { Fault } from '../schemas/fault.ts'
import type { DomainSimulation } from '../simulation/domain.ts'
import { furtherDomains, type DomainRecord } from './record.ts'

/** The domains that this program runs, with their records. */
export interface Domains {
  /** The value of `TRIBUTARY_DOMAINS` that selects these domains. A worker thread uses it to load the same domains. Undefined: all of the package. */
  readonly selection?: string | undefined
  readonly records: readonly DomainRecord[]
  /** All domains in the order of the records. The domain of each record is followed by the further domains of the record: `series` and `also`. */
  readonly all: readonly Domain[]
  /** All functions of this object that receive a name throw the fault `bad-usage` if no domain has this name. */
  named(name: string): Domain
  /** True if the domain is the `series` of a record or is in its `also`. It folds the log of the record's main domain, and has no log or edge of its own. */
  isFurther(name: string): boolean
  /** The formatter for items with this sort key. Undefined if there is none: then `explain` prints each changed attribute. */
  formatterOf(name: string, sk: string | undefined): ItemFormatter | undefined
  importerOf(name: string): Importer
  exporterOf(name: string): Exporter
  appendRulesOf(name: string): AppendRules
  recordOf(name: string): DomainRecord
  /** The workloads for the simulation and the deliberate bugs that it must find, by the name of the domain. */
  simulations(): Promise<Readonly<Record<string, DomainSimulation>>>
}

export const createDomains = (records: readonly DomainRecord[]): Domains => {
  const entries = records.flatMap((record) =>
    [record.domain, ...furtherDomains(record)].map((domain) => ({ record, domain })),
  )
  const all = entries.map(({ domain }) => domain)
  requireNames(records)
  requireDistinctDomains(records, all)
  const entry = (name: string) => {
    const found = entries.find(({ domain }) => domain.name === name)
    if (found !== undefined) return found
    throw unknownDomain(
      name,
      all.map((domain) => domain.name),
    )
  }
  const namesWith = (part: keyof DomainRecord): readonly string[] =>
    records.filter((record) => record[part] !== undefined).map(({ domain }) => domain.name)
  const isFurther = (name: string): boolean => {
    const { record, domain } = entry(name)
    return record.domain !== domain
  }
  /** A part of the domain's record. Throws a fault if the record does not have it, or if the domain is a further domain of the record. */
  const partOf = <P extends 'importer' | 'exporter'>(name: string, part: P): NonNullable<DomainRecord[P]> => {
    const found = isFurther(name) ? undefined : entry(name).record[part]
    if (found !== undefined) return found
    const [code, verb] = part === 'importer' ? ['import-unknown', 'import'] : ['export-unknown', 'export']
    throw new Fault(
      code,
      `The domain ${name} has no ${verb}. Domains with an ${verb}: ${namesWith(part).join(', ') || 'none'}.`,
    )
  }
  return {
    records,
    all,
    named: (name) => entry(name).domain,
    recordOf: (name) => entry(name).record,
    isFurther,
    formatterOf: (name, sk) =>
      isFurther(name) ? undefined : entry(name).record.formatters?.find((each) => sk?.startsWith(each.sk) === true),
    importerOf: (name) => partOf(name, 'importer'),
    exporterOf: (name) => partOf(name, 'exporter'),
    appendRulesOf(name) {
      const { record } = entry(name)
      if (record.appendRules !== undefined && !isFurther(name)) return record.appendRules
      throw new Fault(
        'bad-usage',
        isFurther(name)
          ? `${name} has no log of its own: append to ${record.domain.name}, whose log it folds.`
          : `No event can be appended to ${name} by hand: its record has no rules for it (appendRules).`,
      )
    },
    simulations: async () => {
      const found = records.flatMap(({ domain, simulation }) =>
        simulation === undefined ? [] : [{ domain, simulation }],
      )
      return Object.fromEntries(
        await Promise.all(found.map(async ({ domain, simulation }) => [domain.name, await simulation()] as const)),
      )
    },
  }
}

const requireNames = (records: readonly DomainRecord[]): void => {
  const misnamed = records.find(({ domain }) => !isDomainName(domain.name))
  if (misnamed !== undefined)
    throw new Fault(
      'bad-config',
      `A domain has the name "${misnamed.domain.name}". A name has ${DOMAIN_NAME_RULE}. Rename the domain in its record.`,
    )
}

const requireDistinctDomains = (records: readonly DomainRecord[], all: readonly Domain[]): void => {
  requireDistinct(
    'name',
    all.map((domain) => ({ value: domain.name, owner: `the domain with the table ${domain.table.name}` })),
  )
  requireDistinct(
    'table',
    all.map((domain) => ({ value: domain.table.name, owner: ownerOf(domain) })),
  )
  requireDistinct(
    'log topic',
    records.map(({ domain }) => ({ value: domain.topic, owner: ownerOf(domain) })),
  )
  for (const { domain, ...record } of records)
    for (const { name, topic } of furtherDomains(record))
      if (topic !== domain.topic)
        throw new Fault(
          'bad-config',
          `The domain ${name} has the log topic ${topic}, but the record of ${domain.name} lists it as a further domain of ${domain.topic}. Give both the same topic, or give ${name} a record of its own.`,
        )
  const reserved = all.find(({ table }) => isProgramTable(table))
  if (reserved !== undefined)
    throw new Fault(
      'bad-config',
      `The domain ${reserved.name} has the table ${reserved.table.name}. Only tables of the program are called ${SESSIONS_TABLE_NAME} or begin with ${PROGRAM_TABLES}. Rename the table in its record.`,
    )
}

export const unknownDomain = (name: string, known: readonly string[]): Fault =>
  new Fault(
    'bad-usage',
    `There is no domain "${name}". There ${known.length === 1 ? 'is' : 'are'}: ${known.join(', ')}.`,
  )
