import type { ImportLine } from '../../importing.ts'
import { compareText } from '../../order.ts'
import { isObject } from '../../../schemas/object.ts'
import { field, instantOf, rowOf, textField, type Row } from '../../rows.ts'
import { oneTxHash } from '../keys.ts'
import { idIn } from './old-splits.ts'
import { isSpliit, spliitRows } from './spliit.ts'

interface NumberedRow {
  readonly line: number
  readonly nth: number
  readonly row: Row
}

/**
 * Sorts the rows of a file into the order in which their events can be appended: a group, its members, its expenses and
 * settlements by time, departures, the owner, the archiving. A row of a DynamoDB table gets its kind from its key.
 * Other rows contain their `kind`.
 */
export const sortLines = (
  lines: readonly ImportLine[],
  { currency }: { readonly currency?: string | undefined },
): readonly ImportLine[] => {
  const rows = lines
    .flatMap(({ line, text }) => rowsIn(text, currency).map((row) => ({ line, ...row })))
    .map((row, nth) => ({ ...row, nth }))
  const known = peopleIn(rows)
  const named = rows.map((numbered) => ({ ...numbered, row: withOwnIds(numbered.row, known) }))
  const claims = repeatedClaims(named)
  const all = [...named.map((numbered) => claims.get(numbered) ?? numbered), ...formerMembersIn(named, known)]
  return all
    .map((numbered, index) => ({
      ...numbered,
      index,
      rank: rankOf(numbered.row),
      at: effectiveTimeOf(numbered.row),
      member: numbered.row['kind'] === 'member' ? (idIn(numbered.row, 'id') ?? '') : '',
    }))
    .sort((a, b) => a.rank - b.rank || compareText(a.at, b.at) || compareText(a.member, b.member) || a.index - b.index)
    .map(({ line, nth, row }) => ({ line, nth, text: JSON.stringify(row) }))
}

const rowsIn = (
  text: string,
  currency: string | undefined,
): readonly { readonly line?: number; readonly row: Row }[] => {
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch {
    return [{ row: { unreadable: 'it is not JSON' } }]
  }
  if (isSpliit(document)) return spliitRows(document, currency)
  // A page of this program's export has its rows in `items`. Any other document is one row.
  const listed = isObject(document) && Array.isArray(document['items']) ? document['items'] : [document]
  return listed.map((each) => ({ row: rowWithKind(rowOf(each)) }))
}

const KINDS: readonly (readonly [RegExp, string])[] = [
  [/^METADATA$/, 'group'],
  [/^USER#/, 'member'],
  [/^TX#/, 'expense'],
  [/^SETTLE#/, 'settlement'],
]

const rowWithKind = (row: Row | undefined): Row => {
  if (row === undefined) return { unreadable: 'it is not an item in JSON or in DynamoDB JSON' }
  const [pk, sk] = [textField(row, 'PK'), textField(row, 'SK') ?? '']
  if (pk === undefined)
    return textField(row, 'kind') === undefined ? { unreadable: 'it has neither keys nor a kind' } : row
  const groupId = /^GROUP#(.+)$/.exec(pk)?.[1]
  const kind = KINDS.find(([pattern]) => pattern.test(sk))?.[1]
  if (groupId === undefined || kind === undefined) return { kind: 'derived' }
  const rest = Object.fromEntries(Object.entries(row).filter(([name]) => !/^(PK|SK|GSI\d[PS]K|_.*)$/.test(name)))
  if (kind === 'group') return { ...rest, kind, id: groupId }
  return {
    ...rest,
    kind,
    groupId,
    ...(kind === 'member'
      ? { id: sk.slice('USER#'.length), alias: idIn(row, 'id') ?? null }
      : { spentAt: sk.split('#')[1] ?? null }),
  }
}

const groupOf = (row: Row): string => textField(row, 'groupId') ?? ''

/**
 * The members and the currency of each group. `aliases` maps `<group> <alias>` to the id of a member: older rows can name a member by
 * another id (E-k).
 */
interface People {
  readonly members: ReadonlyMap<string, ReadonlySet<string>>
  readonly aliases: ReadonlyMap<string, string>
  readonly currencies: ReadonlyMap<string, string>
}

const peopleIn = (rows: readonly NumberedRow[]): People => {
  const members = new Map<string, Set<string>>()
  const aliases = new Map<string, string>()
  const currencies = new Map<string, string>()
  for (const { row } of rows) {
    const [id, group] = [idIn(row, 'id'), groupOf(row)]
    if (id === undefined) continue
    if (row['kind'] === 'group') currencies.set(id, textField(row, 'currency') ?? '')
    if (row['kind'] !== 'member') continue
    members.set(group, (members.get(group) ?? new Set()).add(id))
    for (const alias of [textField(row, 'alias'), idIn(row, 'telegramId')])
      if (alias !== undefined && alias !== id) aliases.set(`${group} ${alias}`, id)
  }
  return { members, aliases, currencies }
}

/** Replaces the aliases in a row by the ids of the members, and adds the currency of the group to a row without a currency. */
const withOwnIds = (row: Row, { aliases, currencies }: People): Row => {
  const group = row['kind'] === 'group' ? idIn(row, 'id') : groupOf(row)
  const own = (id: string | undefined): string | null =>
    id === undefined ? null : (aliases.get(`${group} ${id}`) ?? id)
  const creator = idIn(row, 'createdBy') === undefined ? {} : { createdBy: own(idIn(row, 'createdBy')) }
  if (row['kind'] === 'group') return { ...row, ...creator }
  if (row['kind'] !== 'expense' && row['kind'] !== 'settlement') return row
  const currency = textField(row, 'currency') ?? currencies.get(groupOf(row)) ?? null
  if (row['kind'] === 'settlement')
    return { ...row, currency, fromUserId: own(idIn(row, 'fromUserId')), toUserId: own(idIn(row, 'toUserId')) }
  return {
    ...row,
    ...creator,
    currency,
    payerId: own(idIn(row, 'payerId')),
    splits: splitsIn(row).map((split) => ({ ...split, userId: own(idIn(split, 'userId')) })),
  }
}

const splitsIn = (row: Row): readonly Row[] => {
  const listed = field(row, 'splits')
  return Array.isArray(listed) ? listed.filter((split): split is Row => isObject(split)) : []
}

/**
 * Finds the settlements whose transaction already completes an earlier settlement of the file. A transaction completes
 * only one settlement (E-j). So the map contains, for each found row, an unreadable row that replaces it.
 */
const repeatedClaims = (rows: readonly NumberedRow[]): ReadonlyMap<NumberedRow, NumberedRow> => {
  const firstClaims = new Map<string, string>()
  const repeated = new Map<NumberedRow, NumberedRow>()
  for (const numbered of rows) {
    const [hash, id] = [textField(numbered.row, 'txHash'), `${groupOf(numbered.row)} ${idIn(numbered.row, 'id') ?? ''}`]
    if (numbered.row['kind'] !== 'settlement' || numbered.row['status'] !== 'completed' || !hash) continue
    const first = firstClaims.get(oneTxHash(hash)) ?? id
    firstClaims.set(oneTxHash(hash), first)
    if (first !== id)
      repeated.set(numbered, {
        ...numbered,
        row: { unreadable: `transaction-claimed: its transaction ${hash} settles ${first.split(' ')[1]} already` },
      })
  }
  return repeated
}

/**
 * Returns rows that are added to the rows of the file. A person who paid or shared but is no member in the file has left
 * the group: they get a row that joins them at the time of their first row, and one that ends the membership at the time of
 * their last row. The result also contains rows for departures of members, for owners and for archived groups.
 */
const formerMembersIn = (rows: readonly NumberedRow[], { members }: People): readonly NumberedRow[] => {
  const found = new Map<
    string,
    { group: string; id: string; name: string | null; first: string; last: string; line: number; nth: number }
  >()
  for (const { line, nth, row } of rows) {
    const [group, at] = [groupOf(row), timeOf(row)]
    for (const { id, name } of namedIn(row)) {
      if (members.get(group)?.has(id) === true) continue
      const before = found.get(`${group} ${id}`)
      found.set(`${group} ${id}`, {
        group,
        id,
        line: before?.line ?? line,
        nth: before?.nth ?? nth,
        name: before?.name ?? name,
        first: before === undefined || at < before.first ? at : before.first,
        last: before === undefined || at > before.last ? at : before.last,
      })
    }
  }
  return [...found.values()]
    .flatMap(({ group, id, name, first, last, line, nth }): readonly NumberedRow[] => [
      { line, nth, row: { kind: 'member', groupId: group, id, name, joinedAt: first } },
      { line, nth, row: { kind: 'left', groupId: group, id, leftAt: last, joinedAt: first } },
    ])
    .concat(departuresIn(rows), groupStates(rows))
}

const departuresIn = (rows: readonly NumberedRow[]): NumberedRow[] =>
  rows.flatMap(({ line, nth, row }) => {
    const [id, leftAt, removedAt] = [idIn(row, 'id'), textField(row, 'leftAt'), textField(row, 'removedAt')]
    if (row['kind'] !== 'member' || id === undefined || leftAt === undefined) return []
    return [
      {
        line,
        nth,
        row: {
          groupId: groupOf(row),
          id,
          ...(removedAt === undefined ? { kind: 'left', leftAt } : { kind: 'removed', removedAt }),
        },
      },
    ]
  })

/** Rows for the owner and the archiving of groups. Only an export of this program contains them. They follow all other rows of the group. */
const groupStates = (rows: readonly NumberedRow[]): NumberedRow[] =>
  rows.flatMap(({ line, nth, row }) => {
    const [groupId, ownerId, archivedAt] = [idIn(row, 'id'), idIn(row, 'ownerId'), textField(row, 'archivedAt')]
    if (row['kind'] !== 'group' || groupId === undefined) return []
    return [
      ...(ownerId === undefined
        ? []
        : [
            {
              line,
              nth,
              row: { kind: 'owner', groupId, id: ownerId, ownerSince: textField(row, 'ownerSince') ?? null },
            },
          ]),
      ...(archivedAt === undefined ? [] : [{ line, nth, row: { kind: 'archived', groupId, archivedAt } }]),
    ]
  })

const namedIn = (row: Row): readonly { readonly id: string; readonly name: string | null }[] => {
  const personIn = (person: Row, id: string, name: string) => {
    const user = idIn(person, id)
    return user === undefined ? [] : [{ id: user, name: textField(person, name) ?? null }]
  }
  if (row['kind'] === 'settlement')
    return [...personIn(row, 'fromUserId', 'fromUserName'), ...personIn(row, 'toUserId', 'toUserName')]
  return row['kind'] === 'expense'
    ? [
        ...personIn(row, 'payerId', 'payerName'),
        ...splitsIn(row).flatMap((split) => personIn(split, 'userId', 'userName')),
      ]
    : []
}

const RANKS: Readonly<Record<string, number>> = {
  group: 0,
  member: 1,
  expense: 2,
  settlement: 2,
  left: 3,
  removed: 3,
  owner: 4,
  archived: 5,
}
const rankOf = (row: Row): number => RANKS[textField(row, 'kind') ?? ''] ?? 6

/** The time of a row in a fixed width, so that the order of texts is the order of time. Empty if the row has no time. */
const timeOf = (row: Row): string => {
  const ms =
    instantOf(textField(row, 'createdAt')) ??
    instantOf(textField(row, 'spentAt')) ??
    instantOf(textField(row, 'joinedAt'))
  return ms === undefined ? '' : new Date(ms).toISOString()
}

/**
 * The time at which a row changes balances: the completion of a completed settlement, else the time of the row. The time
 * of a balance never decreases, so rows are sorted by this time.
 */
const effectiveTimeOf = (row: Row): string => {
  const completed =
    row['kind'] === 'settlement' && row['status'] === 'completed' ? instantOf(textField(row, 'completedAt')) : undefined
  return completed === undefined ? timeOf(row) : new Date(completed).toISOString()
}
