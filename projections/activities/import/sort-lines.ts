import type { ImportLine, ImportOptions } from '../../importing.ts'
import { numberField, rowOf, textField, type Row } from '../../rows.ts'
import { isAward, milestones } from '../keys.ts'

/** The kinds of rows in the order in which they are imported. Activities count for milestones that exist, and archived milestones keep their progress. */
const ORDER = [
  'model',
  'modelPart',
  'profile',
  'milestone',
  'award',
  'completed',
  'activity',
  'workout',
  'archived',
  'derived',
] as const
export type RowKind = (typeof ORDER)[number]

/** The kinds that the file, or this module, names in the field `kind`. The keys of an item tell the other kinds. */
const NAMED: readonly string[] = ['activity', 'completed', 'archived'] satisfies RowKind[]

/** The kinds of rows by their partition and sort key. Other rows of the table are computed by the folds, or belong to another program: tokens, sessions. */
const BY_KEY: readonly (readonly [pk: string, sk: RegExp, kind: RowKind])[] = [
  ['MODEL#', /^META$/, 'model'],
  ['MODEL#', /^PART#/, 'modelPart'],
  ['USER#', /^PROFILE$/, 'profile'],
  ['USER#', /^WORKOUT#STRAVA#/, 'workout'],
  ['USER#', /^MILESTONE#[^#]+$/, 'milestone'],
  ['USER#', /^MILESTONE#[^#]+#AWARD#/, 'award'],
  ['USER#', /^(STRAVA#CONNECTION|GONE#|SYNC#|LEDGER|MILESTONES|PARTS#|SAGA|PAT#|USAGE#|AUDIT#|LINK)/, 'derived'],
  ['STRAVA#', /./, 'derived'],
  ['SESSION#', /./, 'derived'],
  ['IDEMPOTENCY#', /./, 'derived'],
]

/** Returns the kind of a row. Undefined if it is no item of the table. */
export const kindOf = (row: Row): RowKind | undefined => {
  const named = textField(row, 'kind') ?? ''
  if (NAMED.includes(named)) return named as RowKind
  // An export contains no hash of a token, so the person creates new tokens.
  if (named === 'token') return 'derived'
  const [pk, sk] = [textField(row, 'PK') ?? '', textField(row, 'SK') ?? '']
  return BY_KEY.find(([prefix, pattern]) => pk.startsWith(prefix) && pattern.test(sk))?.[2]
}

interface Sorted extends ImportLine {
  readonly nth: number
  readonly rank: number
}

/**
 * Sorts the rows of a file, and adds a row for the completion and for the archiving of a milestone. Gives each milestone its parts: those of its
 * snapshot (`PARTS#`), otherwise those of the model in the file, otherwise those of its awards.
 */
export const sortLines = (lines: readonly ImportLine[], { user }: ImportOptions): readonly ImportLine[] => {
  const rows = lines.map((line, nth) => ({ line: line.line, nth, text: line.text, row: parsed(line.text) }))
  const parts = partsIn(rows.flatMap(({ row }) => (row === undefined ? [] : [row])))
  const sorted = rows.flatMap(({ row, ...line }): readonly Sorted[] => {
    const kind = row && kindOf(row)
    if (row === undefined || kind === undefined) return [{ ...line, rank: ORDER.length }]
    const pk = textField(row, 'PK') ?? ''
    if (user !== undefined && pk.startsWith('USER#') && pk !== `USER#${user}`)
      return [{ ...line, ...textOf({ kind: 'unreadable', reason: `it belongs to another person than ${user}` }) }]
    if (kind !== 'milestone') return [{ ...line, rank: ORDER.indexOf(kind) }]
    const { kind: _kind, ...milestone } = row
    return [
      { ...line, ...textOf({ ...milestone, parts: parts(row) }, 'milestone') },
      ...(textField(row, 'status') === 'COMPLETED' ? [{ ...line, ...textOf({ ...row, kind: 'completed' }) }] : []),
      ...(textField(row, 'archivedAtUtc') ? [{ ...line, ...textOf({ ...row, kind: 'archived' }) }] : []),
    ]
  })
  return sorted.sort((a, b) => a.rank - b.rank || a.nth - b.nth).map(({ line, nth, text }) => ({ line, nth, text }))
}

const textOf = (row: Readonly<Record<string, unknown>>, kind = row['kind']): Pick<Sorted, 'text' | 'rank'> => {
  const at = ORDER.findIndex((each) => each === kind)
  return { text: JSON.stringify(row), rank: at < 0 ? ORDER.length : at }
}

/** The row of a line. Undefined if it is no item: `read` of the importer reports it. */
const parsed = (text: string): Row | undefined => {
  try {
    return rowOf(JSON.parse(text))
  } catch {
    return undefined
  }
}

/** Returns the function that finds the parts of a milestone in the rows of the file. */
const partsIn = (rows: readonly Row[]): ((milestone: Row) => readonly Row[]) => {
  const found = new Map<string, Row>()
  const add = (owner: string, part: number, row: Row): void => void found.set(`${owner} ${part}`, row)
  for (const row of rows) {
    const [pk, sk] = [textField(row, 'PK') ?? '', textField(row, 'SK') ?? '']
    const number = Number(sk.split('#').at(-1))
    if (pk.startsWith('MODEL#') && sk.startsWith('PART#')) add(pk, number, row)
    if (pk.startsWith('USER#') && isAward(sk)) add(`${pk} ${sk.split('#')[1] ?? ''}`, number, row)
    if (pk.startsWith('USER#') && sk.startsWith('PARTS#'))
      for (const [index, part] of listIn(row).entries()) add(`${pk} ${sk}`, index + 1, part)
  }
  return (milestone) => {
    const own = listIn(milestone)
    if (own.length > 0) return own
    const pk = textField(milestone, 'PK') ?? ''
    const id = (textField(milestone, 'SK') ?? '').slice(milestones.prefix.length)
    const owners = [`${pk} PARTS#${id}`, `MODEL#${textField(milestone, 'modelId') ?? ''}`, `${pk} ${id}`]
    return Array.from(
      { length: Math.min(numberField(milestone, 'partsTotal') ?? DEFAULT_PARTS, 90) },
      (_, index) => owners.map((owner) => found.get(`${owner} ${index + 1}`)).find((part) => part !== undefined) ?? {},
    )
  }
}

/** The number of parts of every model of the original design. */
const DEFAULT_PARTS = 12

const listIn = (row: Row): readonly Row[] => (Array.isArray(row['parts']) ? (row['parts'] as readonly Row[]) : [])
