import { isAggregate } from './aggregates.ts'
import { refuse, type At } from './lexer.ts'
import { childrenOf, type Expression, type Query, type Relation, type SelectItem } from './tree.ts'
import type { Bound, Column, Scope, Typed } from './typed.ts'
import { conditionOf, hasAggregate, refuseAggregates, sorted, valueOf } from './values.ts'

/** A table for the translator: its rows in DuckDB's SQL, and its columns with their names in that SQL. */
export type Source = Readonly<{ sql: string; columns: readonly Column[] }>
export type Translated = Readonly<{ sql: string; columns: readonly Readonly<{ name: string; type: Typed['type'] }>[] }>
type Names = { next: number }
type Context = Readonly<{
  nowNs: bigint
  table: (at: At, database: string, table: string) => Source
  ctes: ReadonlyMap<string, Source>
  names: Names
}>
/** A column of the result. `node` is unset for a column of `SELECT *`. */
type Item = Typed & Readonly<{ name: string; node?: Expression }>

const fresh = ({ names }: Context, letter: string): string => `${letter}${names.next++}`

/** Translates a query into DuckDB's SQL. The translator generates all names in this SQL, so the text of the caller occurs only in literals. */
export const translated = (query: Query, { nowNs, table }: Pick<Context, 'nowNs' | 'table'>): Translated =>
  selected(query, { nowNs, table, ctes: new Map(), names: { next: 0 } })

const selected = (query: Query, outer: Context): Translated => {
  const { context, prefix } = withCommons(query, outer)
  const from = query.from && joined(query.from, context)
  const scope: Scope = { nowNs: context.nowNs, relations: from?.bounds ?? [] }
  const items = query.items.flatMap((item, index) => itemsOf(item, scope, index))
  const groups = groupsOf(query, items, scope)
  const orders = ordersOf(query, items, scope)
  checkGrouping(query, items, { scope, groups, orders })
  if (query.where) refuseAggregates(query.where, 'WHERE')
  const parts = [
    `${prefix}SELECT ${query.distinct ? 'DISTINCT ' : ''}${items.map(({ sql }, index) => `${sql} AS o${index}`).join(', ')}`,
    from && `FROM ${from.sql}`,
    query.where && `WHERE ${conditionOf(query.where, scope, 'WHERE clause')}`,
    groups.length > 0 && `GROUP BY ${groups.join(', ')}`,
    query.having && `HAVING ${conditionOf(query.having, scope, 'HAVING clause')}`,
    orders.length > 0 && `ORDER BY ${orders.map(({ sql }) => sql).join(', ')}`,
    query.limit !== undefined && `LIMIT ${query.limit}`,
  ]
  return {
    sql: parts.filter((part) => typeof part === 'string').join(' '),
    columns: items.map(({ name, type }) => ({ name, type })),
  }
}

/** Returns a translated query as a relation. In its SQL, the result columns are named o0, o1, …. */
const asSource = ({ sql, columns }: Translated, names?: readonly string[]): Source => ({
  sql: `(${sql})`,
  columns: columns.map(({ name, type }, index) => ({ name: names?.[index] ?? name, sql: `o${index}`, type })),
})

const withCommons = (query: Query, outer: Context): { context: Context; prefix: string } => {
  let context = outer
  const parts: string[] = []
  for (const { at, name, columns, query: inner } of query.ctes) {
    const result = selected(inner, context)
    if (columns !== undefined && columns.length !== result.columns.length)
      throw refuse(at, `WITH ${name} names ${columns.length} columns and selects ${result.columns.length}`)
    const called = fresh(context, 'q')
    parts.push(`${called} AS (${result.sql})`)
    context = {
      ...context,
      ctes: new Map([...context.ctes, [name.toLowerCase(), { ...asSource(result, columns), sql: called }]]),
    }
  }
  return { context, prefix: parts.length > 0 ? `WITH ${parts.join(', ')} ` : '' }
}

const bindable = (source: Source, context: Context, name: string | undefined): { sql: string; bounds: Bound[] } => {
  const called = fresh(context, 'r')
  const columns = source.columns.map((column) => ({ ...column, sql: `${called}.${column.sql}` }))
  return { sql: `${source.sql} AS ${called}`, bounds: [{ ...(name !== undefined && { name }), columns }] }
}

const joined = (relation: Relation, context: Context): { sql: string; bounds: Bound[] } => {
  switch (relation.kind) {
    case 'table':
      return bindable(
        context.table(relation.at, relation.database, relation.table),
        context,
        relation.alias ?? relation.table,
      )
    case 'query':
      return bindable(asSource(selected(relation.query, context)), context, relation.alias)
    case 'named': {
      const source = context.ctes.get(relation.name.toLowerCase())
      if (source === undefined)
        throw refuse(relation.at, `Table ${relation.name} does not exist: a table is written "database"."table".`)
      return bindable(source, context, relation.alias ?? relation.name)
    }
    case 'join': {
      const [left, right] = [joined(relation.left, context), joined(relation.right, context)]
      const bounds = [...left.bounds, ...right.bounds]
      if (relation.on) refuseAggregates(relation.on, 'JOIN')
      const on = relation.on
        ? ` ON ${conditionOf(relation.on, { nowNs: context.nowNs, relations: bounds }, 'JOIN ON clause')}`
        : ''
      return { sql: `${left.sql} ${relation.how} JOIN ${right.sql}${on}`, bounds }
    }
  }
}

const itemsOf = (item: SelectItem, scope: Scope, index: number): Item[] => {
  if (item.kind === 'value') {
    const name = item.alias ?? (item.value.kind === 'column' ? item.value.name : `_col${index}`)
    return [{ ...valueOf(item.value, scope), name, node: item.value }]
  }
  const bounds = scope.relations.filter(
    ({ name }) => item.relation === undefined || name?.toLowerCase() === item.relation.toLowerCase(),
  )
  if (bounds.length === 0)
    throw refuse(
      item.at,
      item.relation === undefined ? 'SELECT * needs a FROM clause' : `Table '${item.relation}' does not exist`,
    )
  return bounds
    .flatMap(({ columns }) => columns)
    .filter(({ hidden }) => hidden !== true)
    .map(({ name, sql, type }) => ({ name, sql, type }))
}

const ordinal = (node: Expression, items: readonly Item[], what: string): Item | undefined => {
  if (node.kind !== 'literal' || typeof node.value !== 'number' || node.type !== 'integer') return undefined
  const item = items[node.value - 1]
  if (item === undefined) throw refuse(node.at, `${what} position ${node.value} is not in select list`)
  return item
}

const groupsOf = (query: Query, items: readonly Item[], scope: Scope): string[] =>
  query.groupBy.map((node) => {
    const item = ordinal(node, items, 'GROUP BY')
    refuseAggregates(item?.node ?? node, 'GROUP BY', node.at)
    return item?.sql ?? valueOf(node, scope).sql
  })

type Order = Readonly<{ sql: string; value: string; node: Expression | undefined }>

const ordersOf = (query: Query, items: readonly Item[], scope: Scope): Order[] => {
  const results = new Map(items.map(({ name, sql, type }) => [name.toLowerCase(), { sql, type }]))
  return query.orderBy.map((sort) => {
    const item = ordinal(sort.value, items, 'ORDER BY') ?? valueOf(sort.value, { ...scope, results })
    const position = items.findIndex(({ sql }) => sql === item.sql)
    if (position < 0 && query.distinct)
      throw refuse(sort.value.at, 'For SELECT DISTINCT, ORDER BY expressions must appear in select list')
    return {
      sql: sorted(position < 0 ? item.sql : String(position + 1), sort),
      value: item.sql,
      node: position < 0 ? sort.value : undefined,
    }
  })
}

/** Checks that a query with groups selects and sorts only by grouped or aggregated values. */
const checkGrouping = (
  query: Query,
  items: readonly Item[],
  { scope, groups, orders }: { scope: Scope; groups: readonly string[]; orders: readonly Order[] },
): void => {
  const ordered = orders.flatMap(({ node }) => node ?? [])
  const shown = [...items.flatMap(({ node }) => node ?? []), ...ordered, ...(query.having ? [query.having] : [])]
  if (groups.length === 0 && query.having === undefined && !shown.some(hasAggregate)) return
  const results = new Set(items.map(({ name }) => name.toLowerCase()))
  const check = (node: Expression, inOrder: boolean): void => {
    if (node.kind === 'literal' || (node.kind === 'call' && node.over === undefined && isAggregate(node.name))) return
    if (inOrder && node.kind === 'column' && results.has(node.name.toLowerCase())) return
    if (!mentions(node, results, inOrder) && groups.includes(valueOf(node, scope).sql)) return
    if (node.kind === 'column')
      throw refuse(node.at, `'${node.name}' must be an aggregate expression or appear in GROUP BY clause`)
    for (const child of childrenOf(node)) check(child, inOrder)
  }
  for (const { sql, node, name } of items) {
    if (groups.includes(sql)) continue
    if (node === undefined)
      throw refuse({ line: 1, column: 1 }, `'${name}' must be an aggregate expression or appear in GROUP BY clause`)
    check(node, false)
  }
  for (const node of ordered) check(node, true)
  if (query.having) check(query.having, false)
}

const mentions = (node: Expression, results: ReadonlySet<string>, inOrder: boolean): boolean =>
  inOrder &&
  ((node.kind === 'column' && results.has(node.name.toLowerCase())) ||
    childrenOf(node).some((child) => mentions(child, results, inOrder)))
