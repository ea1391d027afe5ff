import { CONTROL_TABLE } from '../../processors/engine/control.ts'
import { pk } from '../../processors/engine/control-rows.ts'
import type { Domain } from '../../projections/projection.ts'
import { tableName, type TableSpec } from '../../projections/table.ts'
import { createTable, type Table } from './store-model.ts'

/** Every table there is, by name: what lies on disk, and the world's own view of it. */
export interface Tables {
  of(spec: TableSpec, generation: number): Table
  isThere(spec: TableSpec, generation: number): boolean
  drop(spec: TableSpec, generation: number): void
  all(): Iterable<Table>
  /** The domain's generations that are listed as following, with their tables. */
  following(domain: Domain): readonly { readonly generation: number; readonly table: Table }[]
  /** The one that serves; the first before anybody said so. */
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
      const numbers = rows(domain).filter(({ SK, state }) => SK.startsWith('GEN#') && state === 'following').map(({ generation }) => generation as number)
      return numbers.map((generation) => ({ generation, table: of(domain.table, generation) }))
    },
    serving: (domain) => {
      const generation = (rows(domain).find(({ SK }) => SK === 'SERVING')?.['generation'] ?? 1) as number
      return { generation, table: of(domain.table, generation) }
    },
  }
}
