import { CONTROL_TABLE } from '../processors/engine/generations/control.ts'
import { pk } from '../processors/engine/generations/control-rows.ts'
import type { Domain } from '../projections/projection.ts'
import { tableName, type TableSpec } from '../projections/table.ts'
import { createTable, type Table } from './store-model.ts'

/** All tables by name. They outlive every process. */
export interface Tables {
  of(spec: TableSpec, generation: number): Table
  isThere(spec: TableSpec, generation: number): boolean
  drop(spec: TableSpec, generation: number): void
  all(): Iterable<Table>
  /** The generations of the domain with the state `following`, with their tables. */
  following(domain: Domain): readonly { readonly generation: number; readonly table: Table }[]
  /** The serving generation with its table. Default: the first generation. */
  serving(domain: Domain): { readonly generation: number; readonly table: Table }
}

export const createTables = (embedded: boolean): Tables => {
  const tables = new Map<string, Table>()
  const of = (spec: TableSpec, generation: number): Table => {
    const name = tableName(spec, generation)
    const known = tables.get(name)
    if (known !== undefined) return known
    const made = createTable(spec, embedded)
    tables.set(name, made)
    return made
  }
  const rows = ({ name }: Domain) => [...of(CONTROL_TABLE, 1).items.values()].filter(({ PK }) => PK === pk(name))
  return {
    of,
    isThere: (spec, generation) => tables.has(tableName(spec, generation)),
    drop: (spec, generation) => void tables.delete(tableName(spec, generation)),
    all: () => tables.values(),
    following: (domain) => {
      const numbers = rows(domain)
        .filter(({ SK, state }) => SK.startsWith('GEN#') && state === 'following')
        .map(({ generation }) => generation as number)
      return numbers.map((generation) => ({ generation, table: of(domain.table, generation) }))
    },
    serving: (domain) => {
      const generation = (rows(domain).find(({ SK }) => SK === 'SERVING')?.['generation'] ?? 1) as number
      return { generation, table: of(domain.table, generation) }
    },
  }
}
