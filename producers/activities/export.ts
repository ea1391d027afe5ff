import { tokens } from '../../projections/access/keys.ts'
import type { PatItem } from '../../projections/access/items.ts'
import { auditQueries } from '../../projections/activities/audit.ts'
import type { AwardItem, ConnectionItem, MilestoneItem } from '../../projections/activities/items.ts'
import {
  connections,
  isAward,
  milestoneParts,
  milestones,
  profiles,
  workouts,
} from '../../projections/activities/keys.ts'
import { getAll } from '../../projections/entity.ts'
import type { Item } from '../../projections/item.ts'
import type { Reader } from '../../projections/table.ts'
import { Fault } from '../../schemas/fault.ts'
import type { Exporter, ExportPaging, ExportRow } from '../exporting.ts'
import { isHidden } from './milestone-routes.ts'

type Rows = { readonly items: readonly ExportRow[]; readonly cursor?: string }
type SectionPaging = Pick<ExportPaging, 'limit' | 'cursor'>

interface Section {
  readonly name: string
  /** Returns one page of the section. */
  readonly page: (
    reader: Reader,
    user: string,
    paging: SectionPaging,
    further: ExportPaging['further'],
  ) => Promise<Rows>
}

/** The attributes of an item without those of the program: index keys, expiry, and names that begin with `_`. */
const rowOf = (kind: string, item: Item, change: object = {}): ExportRow => ({
  kind,
  ...Object.fromEntries(Object.entries({ ...item, ...change }).filter(([name]) => !/^(_|GSI\d|ttl$)/.test(name))),
})

const NO_NUMBERS = { progressValue: null, highWaterProgress: null, percentComplete: null, partsEarned: null }

const milestoneRows = async (reader: Reader, user: string, items: readonly Item[]): Promise<readonly ExportRow[]> => {
  const parts = await getAll(
    reader,
    items.map(({ SK }) => milestoneParts.key(user, SK.split('#')[1] ?? '')),
  )
  const hidden = isHidden(await connections.get(reader, user))
  return items.map((item, at) =>
    isAward(item.SK)
      ? rowOf('award', item as AwardItem, hidden ? { progressValueAtAward: null } : {})
      : rowOf('milestone', item as MilestoneItem, { parts: parts[at]?.parts ?? [], ...(hidden && NO_NUMBERS) }),
  )
}

const SECTIONS: readonly Section[] = [
  {
    name: 'tokens',
    page: async (reader, user, paging) => {
      const { items, ...rest } = await tokens.page(reader, user, paging)
      return { items: items.map(tokenRow), ...rest }
    },
  },
  {
    name: 'milestones',
    page: async (reader, user, paging) => {
      const { items, ...rest } = await milestones.page(reader, user, paging)
      return { items: await milestoneRows(reader, user, items), ...rest }
    },
  },
  {
    name: 'workouts',
    page: async (reader, user, paging) => {
      if (isHidden(await connections.get(reader, user))) return { items: [] }
      const { items, ...rest } = await workouts.page(reader, user, paging)
      return { items: items.map((item) => rowOf('workout', item)), ...rest }
    },
  },
  {
    name: 'audit',
    page: async (_reader, user, paging, further) => {
      const reader = further?.[AUDIT]
      if (reader === undefined) return { items: [] }
      const { items, ...rest } = await auditQueries(reader).ofUser(user, paging)
      return { items: items.map((item) => rowOf('audit', item)), ...rest }
    },
  },
]

/** The domain that stores the audit. */
const AUDIT = 'activities-audit'

const tokenRow = ({ patId, name, scopes, createdAt, lastUsedAt }: PatItem): ExportRow => ({
  kind: 'token',
  patId,
  name,
  scopes,
  createdAt,
  ...(lastUsedAt !== undefined && { lastUsedAt }),
})

/**
 * Exports all data of a person: the profile, the connection, the names of the tokens, the milestones with their awards, the workouts and the audit. No
 * row contains a token. While the data of a connection is being erased, the export contains none of it. `tributary import` reads the rows.
 */
export const activitiesExporter: Exporter = {
  page: async (reader, user, { cursor, limit, further }) => {
    if (cursor === undefined) return opening(reader, user)
    const [, name, inner] = /^(\w+)\.(.*)$/.exec(cursor) ?? []
    const at = SECTIONS.findIndex((section) => section.name === name)
    const section = SECTIONS[at]
    if (section === undefined)
      throw new Fault('bad-cursor', 'The cursor does not belong to this export. Repeat the request without it.')
    const found = await section.page(reader, user, { limit, ...(inner && { cursor: inner }) }, further)
    const next = found.cursor === undefined ? SECTIONS[at + 1]?.name : section.name
    return { items: found.items, ...(next !== undefined && { cursor: `${next}.${found.cursor ?? ''}` }) }
  },
  columns: [
    ...['kind', 'date', 'id', 'name', 'sport', 'distanceMeters', 'elevationMeters', 'movingTimeS', 'elapsedTimeS'],
    ...['status', 'target', 'progress', 'percent', 'awards', 'part'],
  ],
  cells: (row) => CELLS[row.kind]?.(row) ?? [],
}

/** The profile and the connection. Undefined if there is nothing of the person. */
const opening = async (reader: Reader, user: string): Promise<Rows | undefined> => {
  const [profile, connection, anyToken] = await Promise.all([
    profiles.get(reader, user),
    connections.get(reader, user),
    tokens.page(reader, user, { limit: 1 }),
  ])
  if (profile === undefined && connection === undefined && anyToken.items.length === 0) return undefined
  return {
    items: [
      ...(profile === undefined ? [] : [rowOf('profile', profile)]),
      ...(connection === undefined ? [] : [connectionRow(connection)]),
    ],
    cursor: `${SECTIONS[0]?.name ?? ''}.`,
  }
}

const connectionRow = (item: ConnectionItem): ExportRow => {
  const { secretRef: _secret, secretVersion: _version, ...shown } = item
  return rowOf('connection', shown, isHidden(item) ? { athleteId: null, athleteName: null } : {})
}

type Cells = Readonly<Record<string, unknown>>

const CELLS: Readonly<Record<string, (row: Cells) => readonly Cells[]>> = {
  profile: ({ kind, createdAtUtc, userId, email, status }) => [
    { kind, date: createdAtUtc, id: userId, name: email, status },
  ],
  connection: ({ kind, linkedAtUtc, athleteId, athleteName, status }) => [
    { kind, date: linkedAtUtc, id: athleteId, name: athleteName, status },
  ],
  token: ({ kind, createdAt, patId, name }) => [{ kind, date: createdAt, id: patId, name }],
  milestone: (row) => [
    {
      ...row,
      date: row['createdAtUtc'],
      id: row['milestoneId'],
      name: row['modelId'],
      target: row['totalTarget'],
      progress: row['progressValue'],
      percent: row['percentComplete'],
      awards: row['partsAwardedCount'],
    },
  ],
  award: ({ kind, awardedAtUtc, SK, partName, partIndex, progressValueAtAward }) => [
    {
      kind,
      date: awardedAtUtc,
      id: String(SK).split('#')[1],
      name: partName,
      part: partIndex,
      progress: progressValueAtAward,
    },
  ],
  workout: (row) => [
    row['isDeleted'] === true
      ? { kind: row['kind'], id: row['activityId'], status: 'DELETED' }
      : {
          ...row,
          date: row['startDateUtc'],
          id: row['activityId'],
          sport: row['sportType'],
          elevationMeters: row['totalElevationGain'],
        },
  ],
  audit: ({ kind, atUtc, requestId, eventType, result }) => [
    { kind, date: atUtc, id: requestId, name: eventType, status: result },
  ],
}
