import type { ActivitiesEvent } from '../../schemas/generated/activities.ts'
import { activitiesRefusals } from '../../projections/activities/refusals.ts'
import { drafts } from '../http/drafts.ts'
import { pathId, shown } from '../http/path-id.ts'
import { refusedEarly } from '../http/problem.ts'

/** Returns the Problem for a request that the folds would refuse. The edge throws it before it appends an event. */
export const refused = refusedEarly(activitiesRefusals)

export const event = drafts<ActivitiesEvent>()

const ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/
const isId = (id: string): boolean => ID.test(id)

export const milestoneOf = pathId('id', isId, (id) =>
  refused('milestone-not-found', `You have no milestone ${shown(id)}. List them: GET /milestones.`),
)
export const modelOf = pathId('id', isId, (id) =>
  refused('model-not-found', `There is no model ${shown(id)}. List them: GET /models.`),
)
export const idSchema = { type: 'string', minLength: 1, maxLength: 64, pattern: ID.source } as const
