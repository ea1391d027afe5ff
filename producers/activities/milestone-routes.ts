import type { AwardItem, ConnectionItem, MilestoneItem } from '../../projections/activities/items.ts'
import { awardItems, connections, ledgerPages, milestoneLists, milestones } from '../../projections/activities/keys.ts'
import {
  MAX_ACTIVE,
  MAX_MILESTONES,
  MAX_PARTS,
  MAX_TARGET,
  thresholdsOf,
} from '../../projections/activities/milestones.ts'
import { getAll } from '../../projections/entity.ts'
import { instantOf } from '../http/instants.ts'
import { badCursor, listing } from '../http/lists.ts'
import { command, question, type Call, type Route } from '../http/route.ts'
import { bool, integer, number, numberOrNull, text } from '../http/schemas.ts'
import { arrayOf, optional, shape } from '../http/shape.ts'
import { openAccount, requireNotDeleting } from './account.ts'
import { readModel } from './model-routes.ts'
import { event, idSchema, milestoneOf, modelOf, refused } from './params.ts'

/** A milestone in an answer. `hidden`: the data from Strava is being erased, so the answer contains no number that is derived from it. */
const milestone = shape<MilestoneItem, [hidden: boolean]>()({
  id: { ...text, from: ({ milestoneId }) => milestoneId },
  milestoneId: text,
  modelId: text,
  sport: text,
  targetType: text,
  totalTarget: number,
  partsTotal: integer,
  periodStartAtUtc: text,
  createdAtUtc: text,
  progressValue: {
    ...numberOrNull,
    description: 'Metres. Falls if an activity is deleted.',
    from: ({ progressValue }, hidden) => (hidden ? null : progressValue),
  },
  highWaterProgress: {
    ...numberOrNull,
    description: 'The highest progress.',
    from: ({ highWaterProgress }, hidden) => (hidden ? null : highWaterProgress),
  },
  percentComplete: { ...numberOrNull, from: ({ percentComplete }, hidden) => (hidden ? null : percentComplete) },
  partsAwardedCount: { ...integer, description: 'The number of awards.' },
  partsEarned: {
    type: ['integer', 'null'],
    description: 'The number of thresholds that the progress passes now.',
    from: ({ partsEarned }, hidden) => (hidden ? null : partsEarned),
  },
  status: { type: 'string', enum: ['ACTIVE', 'COMPLETED'] },
  completedAtUtc: optional(text),
  archivedAtUtc: optional(text),
  version: integer,
  thresholds: {
    ...arrayOf(number),
    description: 'The metres at which each part is earned.',
    from: (item) => thresholdsOf(item),
  },
})

const award = shape<AwardItem, [hidden: boolean]>()({
  partIndex: integer,
  partName: text,
  meshFile: text,
  attachPoint: text,
  awardedAtUtc: text,
  progressValueAtAward: {
    ...numberOrNull,
    from: ({ progressValueAtAward }, hidden) => (hidden ? null : progressValueAtAward),
  },
})

const withAwards = shape<MilestoneItem, [hidden: boolean, awards: readonly AwardItem[]]>()({
  ...milestone.fields,
  awards: { ...arrayOf(award.schema), from: (_, hidden, awards) => awards.map((each) => award.view(each, hidden)) },
})

/** The data from Strava is being erased, or is about to be. */
export const isHidden = (connection: ConnectionItem | undefined): boolean => connection?.status === 'REVOKING'

const milestoneAnswer = async ({ caller: { reader, user } }: Pick<Call, 'caller'>, id: string) => {
  const [item, awards, connection] = await Promise.all([
    milestones.get(reader, user, id),
    awardItems.every(reader, user, { ...awardItems.of(id), limit: MAX_PARTS }),
    connections.get(reader, user),
  ])
  return item && withAwards.view(item, isHidden(connection), awards)
}

const listMilestones = listing({
  url: '/milestones',
  operationId: 'listMilestones',
  summary: 'List your milestones in the order of their creation, archived ones too.',
  admit: requireNotDeleting,
  of: { schema: milestone.schema, view: (view: object) => view },
  page: async ({ caller: { reader, user } }, { limit, cursor }) => {
    const [list, connection] = await Promise.all([milestoneLists.get(reader, user), connections.get(reader, user)])
    const all = list?.all ?? []
    const start = cursor === undefined ? 0 : all.indexOf(Buffer.from(cursor, 'base64url').toString()) + 1
    if (cursor !== undefined && start === 0) return badCursor()
    const ids = all.slice(start, start + limit)
    const items = await getAll(
      reader,
      ids.map((id) => milestones.key(user, id)),
    )
    const last = start + limit < all.length ? ids.at(-1) : undefined
    return {
      items: items.filter((item) => item !== undefined).map((item) => milestone.view(item, isHidden(connection))),
      ...(last !== undefined && { cursor: Buffer.from(last).toString('base64url') }),
    }
  },
})

const getMilestone = question({
  method: 'GET',
  url: '/milestones/:id',
  operationId: 'getMilestone',
  summary: 'Get a milestone with its awards.',
  admit: requireNotDeleting,
  result: withAwards.schema,
  answer: async (call) => {
    const id = milestoneOf(call)
    const found = await milestoneAnswer(call, id)
    if (found === undefined) throw milestoneOf.missing(id)
    return found
  },
})

export const newMilestone = {
  type: 'object',
  additionalProperties: false,
  required: ['modelId', 'sport', 'targetType', 'totalTarget'],
  properties: {
    modelId: idSchema,
    sport: { type: 'string', enum: ['RIDE', 'RUN', 'SWIM'] },
    targetType: { type: 'string', enum: ['DISTANCE_METERS', 'ELEVATION_METERS'] },
    totalTarget: { type: 'integer', minimum: 1, maximum: MAX_TARGET, description: 'Whole metres.' },
    periodStartAtUtc: {
      type: 'string',
      maxLength: 40,
      description: 'RFC 3339. Activities count from this instant on. Default: now.',
    },
  },
} as const

const createMilestone = command({
  method: 'POST',
  url: '/milestones',
  operationId: 'createMilestone',
  summary: 'Create a milestone.',
  admit: openAccount,
  body: newMilestone,
  status: 201,
  result: withAwards.schema,
  decide: async ({ body, caller: { reader, user }, newId, now }) => {
    const { modelId, sport, targetType, totalTarget, periodStartAtUtc } = body
    const periodStart = periodStartAtUtc === undefined ? now : instantOf(periodStartAtUtc, '/periodStartAtUtc')
    const [model, list] = await Promise.all([readModel(reader, modelId), milestoneLists.get(reader, user)])
    if (model === undefined || !model.meta.isActive) throw modelOf.missing(modelId)
    if ((list?.active.length ?? 0) >= MAX_ACTIVE)
      throw refused(
        'too-many-active-milestones',
        `You have ${MAX_ACTIVE} milestones that are not archived. Archive one first.`,
      )
    if ((list?.all.length ?? 0) >= MAX_MILESTONES)
      throw refused(
        'too-many-milestones',
        `You have created ${MAX_MILESTONES} milestones. An account can have no more.`,
      )
    const milestoneId = newId()
    const parts = model.parts.map(({ partName, meshFile, attachPoint }) => ({ partName, meshFile, attachPoint }))
    return {
      id: milestoneId,
      draft: event('MilestoneCreated', {
        milestoneId,
        modelId,
        sport,
        targetType,
        totalTarget,
        partsTotal: model.meta.partsTotal,
        parts,
        periodStart,
      }),
    }
  },
  answer: (call, { id = '' }) => milestoneAnswer(call, id),
})

const requireMilestone = async (call: Call): Promise<string> => {
  const id = milestoneOf(call)
  if ((await milestones.get(call.caller.reader, call.caller.user, id)) === undefined) throw milestoneOf.missing(id)
  return id
}

const recomputeMilestone = command({
  method: 'POST',
  url: '/milestones/:id/recompute',
  operationId: 'recomputeMilestone',
  summary: 'Compute the progress of a milestone again from all your activities.',
  admit: openAccount,
  status: 200,
  result: {
    ...withAwards.schema,
    properties: {
      ...withAwards.schema.properties,
      inspected: { ...integer, description: 'The number of activities that were read.' },
      truncated: { ...bool, description: 'Always false: all activities are read.' },
    },
  },
  decide: async (call) => {
    const id = await requireMilestone(call)
    return { id, draft: event('MilestonesRecomputed', { milestoneIds: [id] }) }
  },
  answer: async (call) => {
    const { reader, user } = call.caller
    const [found, pages] = await Promise.all([
      milestoneAnswer(call, milestoneOf(call)),
      ledgerPages.every(reader, user, { limit: 24 }),
    ])
    const inspected = pages.reduce((sum, { entries }) => sum + entries.length, 0)
    return found && { ...found, inspected, truncated: false }
  },
})

const archiveMilestone = command({
  method: 'DELETE',
  url: '/milestones/:id',
  operationId: 'archiveMilestone',
  summary: 'Archive a milestone: it keeps its awards, and earns no further ones.',
  admit: openAccount,
  status: 200,
  result: withAwards.schema,
  decide: async (call) => {
    const id = await requireMilestone(call)
    return { id, draft: event('MilestoneArchived', { milestoneId: id }) }
  },
  answer: (call) => milestoneAnswer(call, milestoneOf(call)),
})

export const milestoneRoutes: readonly Route[] = [
  listMilestones,
  getMilestone,
  createMilestone,
  recomputeMilestone,
  archiveMilestone,
]
