import type {
  ActivityFetchedPersonal,
  AwardsToldData,
  ModelPartDefinedData,
  ModelPublishedData,
} from '../../../schemas/generated/activities.ts'
import type { ImportedEvent } from '../../importing.ts'
import type { Reader } from '../../table.ts'
import { awardItems, milestones, modelParts, models, twoDigits, workouts } from '../keys.ts'

/**
 * True if the items contain the event already. An activity that Strava returned, or that was deleted, is newer than the one in a file. A part of a
 * model that has a name was defined by a person here.
 */
export const isPresent = async ({ type, key, data, personal }: ImportedEvent, reader: Reader): Promise<boolean> => {
  if (type === 'ActivityFetched') {
    const { activityId } = personal as ActivityFetchedPersonal
    return (await workouts.get(reader, key, activityId)) !== undefined
  }
  if (type === 'ModelPublished') return (await models.get(reader, (data as ModelPublishedData).modelId)) !== undefined
  if (type === 'ModelPartDefined') {
    const { modelId, part } = data as ModelPartDefinedData
    const stored = await modelParts.get(reader, modelId, twoDigits(part))
    return stored !== undefined && stored.partName !== ''
  }
  return type === 'AwardsTold' && isTold(key, data as AwardsToldData, reader)
}

const isTold = async (user: string, { milestoneId, awards }: AwardsToldData, reader: Reader): Promise<boolean> => {
  const [award] = awards
  if (award === undefined) return (await milestones.get(reader, user, milestoneId))?.status === 'COMPLETED'
  return (await awardItems.get(reader, user, milestoneId, `AWARD#${twoDigits(award.part)}`))?.told === true
}
