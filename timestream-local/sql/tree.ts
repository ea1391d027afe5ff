import type { At } from './lexer.ts'

/** The type of a value in the syntax tree, which this file defines. NULL is `unknown`. The parser rejects everything that the tree cannot express. */
export type Type = 'boolean' | 'integer' | 'bigint' | 'double' | 'varchar' | 'timestamp' | 'interval' | 'unknown'
export type Literal = Readonly<{
  kind: 'literal'
  at: At
  type: Type
  value: string | number | bigint | boolean | null
}>
type ColumnName = Readonly<{ kind: 'column'; at: At; relation?: string; name: string }>
export type Sort = Readonly<{ value: Expression; descending: boolean; nullsFirst: boolean }>
export type Frame = Readonly<{ unit: 'ROWS' | 'RANGE'; from: string; to: string }>
export type Window = Readonly<{ partitionBy: readonly Expression[]; orderBy: readonly Sort[]; frame?: Frame }>
export type Call = Readonly<{
  kind: 'call'
  at: At
  name: string
  args: readonly Expression[]
  star: boolean
  distinct: boolean
  ignoreNulls: boolean
  filter?: Expression
  over?: Window
}>

export type Expression =
  | Literal
  | ColumnName
  | Call
  | Readonly<{ kind: 'negate'; at: At; value: Expression }>
  | Readonly<{ kind: 'not'; at: At; value: Expression }>
  | Readonly<{ kind: 'binary'; at: At; operator: string; left: Expression; right: Expression }>
  | Readonly<{ kind: 'between'; at: At; value: Expression; low: Expression; high: Expression; not: boolean }>
  | Readonly<{ kind: 'in'; at: At; value: Expression; list: readonly Expression[]; not: boolean }>
  | Readonly<{ kind: 'like'; at: At; value: Expression; pattern: Expression; escape?: Expression; not: boolean }>
  | Readonly<{ kind: 'isNull'; at: At; value: Expression; not: boolean }>
  | Readonly<{
      kind: 'case'
      at: At
      subject?: Expression
      whens: readonly (readonly [Expression, Expression])[]
      otherwise?: Expression
    }>
  | Readonly<{ kind: 'cast'; at: At; value: Expression; type: string; isTry: boolean }>
  | Readonly<{ kind: 'extract'; at: At; field: string; value: Expression }>

export type SelectItem =
  Readonly<{ kind: 'star'; at: At; relation?: string }> | Readonly<{ kind: 'value'; value: Expression; alias?: string }>
export type Relation =
  | Readonly<{ kind: 'table'; at: At; database: string; table: string; alias?: string }>
  | Readonly<{ kind: 'named'; at: At; name: string; alias?: string }>
  | Readonly<{ kind: 'query'; query: Query; alias?: string }>
  | Readonly<{
      kind: 'join'
      at: At
      how: 'INNER' | 'LEFT' | 'CROSS'
      left: Relation
      right: Relation
      on?: Expression
    }>

export type Query = Readonly<{
  ctes: readonly Readonly<{ at: At; name: string; columns?: readonly string[]; query: Query }>[]
  distinct: boolean
  items: readonly SelectItem[]
  from?: Relation
  where?: Expression
  groupBy: readonly Expression[]
  having?: Expression
  orderBy: readonly Sort[]
  limit?: number
}>

export const childrenOf = (node: Expression): readonly Expression[] => {
  switch (node.kind) {
    case 'literal':
    case 'column':
      return []
    case 'call':
      return [
        ...node.args,
        ...(node.filter ? [node.filter] : []),
        ...(node.over?.partitionBy ?? []),
        ...(node.over?.orderBy ?? []).map(({ value }) => value),
      ]
    case 'negate':
    case 'not':
    case 'isNull':
    case 'cast':
    case 'extract':
      return [node.value]
    case 'binary':
      return [node.left, node.right]
    case 'between':
      return [node.value, node.low, node.high]
    case 'in':
      return [node.value, ...node.list]
    case 'like':
      return [node.value, node.pattern]
    case 'case':
      return [
        ...(node.subject ? [node.subject] : []),
        ...node.whens.flat(),
        ...(node.otherwise ? [node.otherwise] : []),
      ]
  }
}
