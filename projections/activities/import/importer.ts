import { isObject } from '../../../schemas/object.ts'
import { isUser } from '../../access/keys.ts'
import type { ImportedEvent, Importer, Origin, ReadRow } from '../../importing.ts'
import { field, instantOf, numberField, rowOf, textField, type Row } from '../../rows.ts'
import type { ModelPart } from '../items.ts'
import { accountSubject, modelKey, stravaSubject } from '../keys.ts'
import { dmOf } from '../milestones.ts'
import { isPresent } from './is-present.ts'
import { kindOf, sortLines, type RowKind } from './sort-lines.ts'
import { readActivitiesCsv } from './strava-csv.ts'

/**
 * Imports `activities.csv` of Strava's archive, the items of the original design (docs/moving.md), and an export of this program. Activities are
 * imported as activities of the link 0. `sortLines` runs before `read` and sets the `kind` of each row.
 */
export const activitiesImporter: Importer = {
  options: [{ name: 'user', value: 'id', about: 'the person whose activities the file contains (activities.csv)' }],
  readCsv: readActivitiesCsv,
  sortLines,
  isPresent,
  read(raw, origin) {
    if (isObject(raw) && raw['kind'] === 'unreadable') return unreadable(String(raw['reason']))
    const row = rowOf(raw)
    if (row === undefined) return unreadable('it is not an item in JSON or in DynamoDB JSON')
    const kind = kindOf(row)
    if (kind === undefined)
      return unreadable(
        `its keys ${JSON.stringify([textField(row, 'PK') ?? null, textField(row, 'SK') ?? null])} are not those of an item of CommitCollect`,
      )
    return READERS[kind]({ row, origin, user: userOf(row) })
  },
}

interface Context {
  readonly row: Row
  readonly origin: Origin
  /** Empty if the row belongs to no person. */
  readonly user: string
}

const unreadable = (reason: string): ReadRow => ({ kind: 'unreadable', reason })

const userOf = (row: Row): string =>
  textField(row, 'userId') ?? /^USER#(.*)$/.exec(textField(row, 'PK') ?? '')?.[1] ?? ''

const afterPrefix = (row: Row, name: 'PK' | 'SK', prefix: string): string =>
  (textField(row, name) ?? '').slice(prefix.length)

/** Reads a row that belongs to a person. */
const ofPerson =
  (read: (context: Context) => readonly ImportedEvent[] | string) =>
  (context: Context): ReadRow => {
    if (!isUser(context.user)) return unreadable(`${JSON.stringify(context.user)} is not a user id`)
    const events = read(context)
    return typeof events === 'string' ? unreadable(events) : { kind: 'events', events }
  }

const personsEvent = (
  { user, origin }: Context,
  type: string,
  { data, at, personal = null, subject }: { data: unknown; at?: number; personal?: unknown; subject?: string },
): ImportedEvent => ({
  type,
  key: user,
  person: user,
  occurredAt: Math.min(at ?? origin.at, origin.at),
  data,
  personal,
  ...(subject !== undefined && { subject }),
})

const READERS: Readonly<Record<RowKind, (context: Context) => ReadRow>> = {
  activity: ofPerson((context) => activity(context, csvBody(context.row))),
  workout: ofPerson((context) => {
    const { row } = context
    if (field(row, 'isDeleted') === true || textField(row, 'status') === 'DELETED') return []
    const body = workoutBody(row)
    return typeof body === 'string' ? body : activity(context, body)
  }),
  profile: ofPerson((context) => {
    const { row, user } = context
    const at = instantOf(textField(row, 'createdAtUtc'))
    const personal = { email: textField(row, 'email') ?? null }
    const data = { number: 1 }
    return [
      personsEvent(context, 'AccountOpened', { data, personal, subject: accountSubject(user), ...(at && { at }) }),
    ]
  }),
  milestone: ofPerson((context) => milestone(context)),
  award: ofPerson((context) => award(context)),
  completed: ofPerson((context) => {
    const { row } = context
    const completedAt = instantOf(textField(row, 'completedAtUtc')) ?? context.origin.at
    const data = { milestoneId: milestoneIdOf(row), version: 1, awards: [], completedAt }
    return [personsEvent(context, 'AwardsTold', { data, at: completedAt })]
  }),
  archived: ofPerson((context) => {
    const at = instantOf(textField(context.row, 'archivedAtUtc')) ?? context.origin.at
    return [personsEvent(context, 'MilestoneArchived', { data: { milestoneId: milestoneIdOf(context.row) }, at })]
  }),
  model: (context) => model(context),
  modelPart: ({ row, origin }) => {
    const modelId = afterPrefix(row, 'PK', 'MODEL#')
    const part = Number(afterPrefix(row, 'SK', 'PART#'))
    if (!Number.isInteger(part)) return unreadable(`its SK ${JSON.stringify(textField(row, 'SK'))} has no number`)
    const data = { modelId, part, ...partIn(row) }
    return { kind: 'events', events: [modelEvent(modelId, origin.at, 'ModelPartDefined', data)] }
  },
  derived: () => ({ kind: 'derived' }),
}

interface Body {
  readonly activityId: string
  readonly name: string
  readonly sportType: string
  readonly startDate: number
  readonly startDateLocal: number
  readonly utcOffsetS: number
  readonly hidden: boolean
  readonly distanceDm: number
  readonly elevationDm: number
  readonly movingS: number
  readonly elapsedS: number
  readonly visibility: string | null
}

const csvBody = (row: Row): Body => {
  const startDate = numberField(row, 'startDate') ?? 0
  return {
    activityId: textField(row, 'activityId') ?? '',
    name: textField(row, 'name') ?? '',
    sportType: textField(row, 'sportType') ?? '',
    startDate,
    startDateLocal: startDate,
    utcOffsetS: 0,
    hidden: false,
    distanceDm: numberField(row, 'distanceDm') ?? 0,
    elevationDm: numberField(row, 'elevationDm') ?? 0,
    movingS: numberField(row, 'movingS') ?? 0,
    elapsedS: numberField(row, 'elapsedS') ?? 0,
    visibility: null,
  }
}

const MAX_METRES = 1e9
const MAX_SECONDS = 2 ** 31 - 1

/** The body of a WORKOUT item. Older items have a number as id, and no local time. */
const workoutBody = (row: Row): Body | string => {
  const activityId = afterPrefix(row, 'SK', 'WORKOUT#STRAVA#')
  if (!/^\d{1,20}$/.test(activityId)) return `its activity id ${JSON.stringify(activityId)} is not an id of digits`
  const startDate = instantOf(textField(row, 'startDateUtc') ?? textField(row, 'startDate'))
  if (startDate === undefined)
    return `its startDateUtc ${JSON.stringify(field(row, 'startDateUtc') ?? null)} is not an instant`
  const amounts = {
    distance: amount(row, ['distanceMeters', 'distance'], MAX_METRES),
    elevation: amount(row, ['totalElevationGain', 'elevationMeters'], MAX_METRES),
    elapsed: amount(row, ['elapsedTimeS', 'elapsedTime', 'elapsed'], MAX_SECONDS),
    moving: amount(row, ['movingTimeS', 'movingTime', 'moving'], MAX_SECONDS),
  }
  const bad = Object.entries(amounts).find(([, value]) => Number.isNaN(value))
  if (bad !== undefined) return `its ${bad[0]} is not an amount`
  return {
    activityId,
    name: textField(row, 'name') ?? '',
    sportType: textField(row, 'sportType') ?? textField(row, 'type') ?? '',
    startDate,
    startDateLocal: instantOf(textField(row, 'startDateLocal')) ?? startDate,
    utcOffsetS: numberField(row, 'utcOffsetS') ?? 0,
    hidden: field(row, 'hidden') === true,
    distanceDm: dmOf(amounts.distance ?? 0),
    elevationDm: dmOf(amounts.elevation ?? 0),
    movingS: Math.round(amounts.moving ?? amounts.elapsed ?? 0),
    elapsedS: Math.round(amounts.elapsed ?? 0),
    visibility: textField(row, 'visibility') ?? null,
  }
}

/** The first of these fields that is a number. Undefined if none is present, NaN if one is no amount. */
const amount = (row: Row, names: readonly string[], most: number): number | undefined => {
  const value = names.map((name) => field(row, name)).find((each) => each !== undefined)
  if (value === undefined) return undefined
  return typeof value === 'number' && value >= 0 && value <= most ? value : NaN
}

/** An imported activity answers for the second in which it began: it is older than every webhook and every answer of Strava. */
const activity = (context: Context, body: Body): readonly ImportedEvent[] | string => {
  const { origin, user } = context
  if (origin.pseudonymOf === undefined) return 'this program has no pseudonyms for ids of Strava'
  const data = {
    ref: origin.pseudonymOf(body.activityId),
    epoch: 0,
    asked: Math.floor(body.startDate / 1000),
    requestedAt: origin.at,
    via: 'import',
  }
  return [personsEvent(context, 'ActivityFetched', { data, personal: body, subject: stravaSubject(user, 0) })]
}

const milestoneIdOf = (row: Row): string => afterPrefix(row, 'SK', 'MILESTONE#').split('#')[0] ?? ''

const SPORTS: readonly unknown[] = ['RIDE', 'RUN', 'SWIM']
const TARGET_TYPES: readonly unknown[] = ['DISTANCE_METERS', 'ELEVATION_METERS']

const milestone = (context: Context): readonly ImportedEvent[] | string => {
  const { row } = context
  const [sport, targetType, totalTarget] = [
    field(row, 'sport'),
    field(row, 'targetType'),
    numberField(row, 'totalTarget'),
  ]
  const [createdAt, periodStart] = [
    instantOf(textField(row, 'createdAtUtc')),
    instantOf(textField(row, 'periodStartAtUtc')),
  ]
  if (!SPORTS.includes(sport)) return `its sport ${JSON.stringify(sport ?? null)} is not RIDE, RUN or SWIM`
  if (!TARGET_TYPES.includes(targetType))
    return `its targetType ${JSON.stringify(targetType ?? null)} is not DISTANCE_METERS or ELEVATION_METERS`
  if (totalTarget === undefined || !Number.isInteger(totalTarget)) return 'its totalTarget is not whole metres'
  if (periodStart === undefined) return 'its periodStartAtUtc is not an instant'
  const listed = field(row, 'parts')
  const parts = (Array.isArray(listed) ? (listed as readonly Row[]) : []).map(partIn)
  const data = {
    milestoneId: milestoneIdOf(row),
    modelId: textField(row, 'modelId') ?? '',
    sport,
    targetType,
    totalTarget,
    partsTotal: parts.length,
    parts,
    periodStart,
  }
  return [personsEvent(context, 'MilestoneCreated', { data, at: createdAt ?? periodStart })]
}

const award = (context: Context): readonly ImportedEvent[] | string => {
  const { row, user } = context
  const part = Number(afterPrefix(row, 'SK', 'MILESTONE#').split('#').at(-1))
  const at = instantOf(textField(row, 'awardedAtUtc'))
  if (!Number.isInteger(part) || at === undefined) return 'it has no number of a part, or no awardedAtUtc'
  const progress = amount(row, ['progressValueAtAward'], MAX_METRES)
  if (Number.isNaN(progress)) return 'its progressValueAtAward is not an amount'
  const data = { milestoneId: milestoneIdOf(row), version: 1, awards: [{ part, at }], completedAt: null }
  const sealed = progress !== undefined && {
    personal: { progressDm: [dmOf(progress)] },
    subject: stravaSubject(user, 0),
  }
  return [personsEvent(context, 'AwardsTold', { data, at, ...sealed })]
}

const partIn = (row: Row): ModelPart => ({
  partName: textField(row, 'partName') ?? '',
  meshFile: textField(row, 'meshFile') ?? '',
  attachPoint: textField(row, 'attachPoint') ?? '',
})

const modelEvent = (modelId: string, occurredAt: number, type: string, data: object): ImportedEvent => ({
  type,
  key: modelKey(modelId),
  person: null,
  occurredAt,
  data,
  personal: null,
})

/** A model. Its parts are rows of their own, which follow. */
const model = ({ row, origin }: Context): ReadRow => {
  const modelId = afterPrefix(row, 'PK', 'MODEL#')
  const partsTotal = numberField(row, 'partsTotal') ?? 0
  if (!Number.isInteger(partsTotal) || partsTotal < 1 || partsTotal > 90)
    return unreadable('its partsTotal is not a number from 1 to 90')
  const at = instantOf(textField(row, 'publishedAtUtc')) ?? origin.at
  const name = textField(row, 'name') ?? modelId
  const parts = Array.from({ length: partsTotal }, () => partIn({}))
  const published = modelEvent(modelId, at, 'ModelPublished', { modelId, name, partsTotal, parts })
  const isRetired = field(row, 'isActive') === false || textField(row, 'status') === 'RETIRED'
  const retired = modelEvent(modelId, origin.at, 'ModelRetired', { modelId })
  return { kind: 'events', events: isRetired ? [published, retired] : [published] }
}
