import type { Event } from '../../schemas/event.ts'
import { isoOf } from '../instant.ts'
import type { Change, ItemFormatter } from '../item-formatter.ts'
import type { Item } from '../item.ts'
import type { AwardItem, MilestoneItem, PresentWorkout, WorkoutItem } from './items.ts'
import { isAward, milestones, workouts } from './keys.ts'
import { dmOf } from './milestones.ts'

/**
 * Formats a milestone like a training diary: one line per event that changes the progress or the awards. An award has the lines of its
 * milestone that concern this award.
 */
export const diaryFormatter: ItemFormatter = {
  sk: milestones.prefix,
  head: ['date', 'what', 'amount', 'before', 'after', 'earned'],
  numbers: ['amount', 'before', 'after'],
  begin: ({ PK, SK }) => {
    const [kind = '', id = ''] = SK.split('#')
    const milestoneKey = `${kind}#${id}`
    let last: MilestoneItem | undefined
    return {
      lines(changes, event) {
        const own = changes.filter((change) => change.PK === PK)
        const milestone = own.find((change) => change.SK === milestoneKey)
        if (milestone !== undefined) last = milestone.after as Item | undefined as MilestoneItem | undefined
        if (!own.some((change) => change.SK === SK)) return []
        if (isAward(SK) && event.type === ERASED)
          return [[dayOf(event), 'link erased: the number is gone, the award stays', '', '', '', '']]
        const earned = own.flatMap((change) => newAward(change, milestoneKey))
        if (milestone === undefined || (isAward(SK) && !earned.some((award) => award.SK === SK))) return []
        const line = lineOf({ milestone, workout: workoutIn(own), earned }, event)
        return line === undefined ? [] : [line]
      },
      end: () => (last === undefined || isAward(SK) ? [] : [summaryOf(last)]),
    }
  },
}

/** The event that erases the data of a link. */
const ERASED = 'PersonForgotten'

/** The day of an event in UTC. */
const dayOf = ({ meta }: Event): string => isoOf(meta.occurredAt).slice(0, 'YYYY-MM-DD'.length)

interface Workouts {
  readonly before: PresentWorkout | undefined
  readonly after: PresentWorkout | undefined
}

const presentOf = (item: Change['after']): PresentWorkout | undefined => {
  const workout = item as Item | undefined as WorkoutItem | undefined
  return workout === undefined || workout.isDeleted ? undefined : workout
}

const workoutIn = (changes: readonly Change[]): Workouts | undefined => {
  const change = changes.find(({ SK }) => SK.startsWith(workouts.prefix))
  return change && { before: presentOf(change.before), after: presentOf(change.after) }
}

const newAward = ({ SK, before, after }: Change, milestoneKey: string): readonly AwardItem[] =>
  isAward(SK) && SK.startsWith(`${milestoneKey}#`) && before === undefined && after !== undefined
    ? [after as Item as AwardItem]
    : []

interface Step {
  readonly milestone: Change
  readonly workout: Workouts | undefined
  readonly earned: readonly AwardItem[]
}

/** The line of an event. Undefined if the event changes neither the progress nor the awards, and the milestone stays. */
const lineOf = ({ milestone, workout, earned }: Step, event: Event): readonly string[] | undefined => {
  const before = milestone.before as Item | undefined as MilestoneItem | undefined
  const after = milestone.after as Item | undefined as MilestoneItem | undefined
  const unit = (before ?? after)?.targetType ?? 'DISTANCE_METERS'
  const progress = [before, after].map((item) => (item === undefined ? '' : lengthOf(item.progressValue, unit)))
  const parts = [
    ...(earned.length === 0 ? [] : [partsText(earned)]),
    ...(after?.status === 'COMPLETED' && before?.status !== 'COMPLETED' ? ['milestone completed'] : []),
  ].join(', ')
  const plain = (what: string): readonly string[] => [dayOf(event), what, '', ...progress, parts]
  if (after === undefined) return plain('account deleted: the milestone is removed')
  if (before === undefined) return plain(createdText(after))
  if (event.type === ERASED && after.version !== before.version)
    return plain('link erased: numbers are gone, awards stay')
  if (after.archivedAtUtc !== before.archivedAtUtc) return plain('milestone archived')
  if (after.progressValue === before.progressValue && parts === '') return undefined
  const shown = workout?.after ?? workout?.before
  if (workout !== undefined && shown !== undefined)
    return [shown.startDateLocal.slice(0, 'YYYY-MM-DD'.length), ...activityText(workout, unit), ...progress, parts]
  return plain(otherText(event, earned))
}

const createdText = (milestone: MilestoneItem): string => {
  const { sport, totalTarget, targetType, partsTotal, periodStartAtUtc, progressValue } = milestone
  const target = `${sport.toLowerCase()} ${lengthOf(totalTarget, targetType)}${targetType === 'ELEVATION_METERS' ? ' up' : ''}`
  const parts = partsTotal === 1 ? '1 part' : `${partsTotal} parts`
  const earlier = progressValue > 0 ? ', with the activities since then' : ''
  return `milestone created: ${target} in ${parts}, from ${periodStartAtUtc.slice(0, 'YYYY-MM-DD'.length)}${earlier}`
}

/** The text and the amount of an activity. */
const activityText = ({ before, after }: Workouts, unit: Unit): readonly [string, string] => {
  const shown = after ?? before
  if (shown === undefined) return ['', '']
  const name = `${shown.name} (${shown.sportType})`
  const amount = lengthOf(unit === 'DISTANCE_METERS' ? shown.distanceMeters : shown.totalElevationGain, unit)
  if (after === undefined) return [`deleted in Strava: ${name}`, `-${amount}`]
  return [before === undefined ? name : `changed in Strava: ${name}`, amount]
}

const otherText = ({ type }: Event, earned: readonly AwardItem[]): string => {
  if (type === 'MilestonesRecomputed') return 'progress counted again'
  if (type !== 'AwardsTold') return 'further parts of the progress'
  return earned.some(({ progressValueAtAward }) => progressValueAtAward === null)
    ? 'earned by an activity that was erased'
    : 'earned by an activity that does not count any more'
}

/** More parts than this are listed without their names. */
const NAMED_PARTS = 3

const partsText = (earned: readonly AwardItem[]): string => {
  const sorted = [...earned].sort((a, b) => a.partIndex - b.partIndex)
  if (sorted.length <= NAMED_PARTS)
    return sorted.map(({ partIndex, partName }) => `part ${partIndex} (${partName})`).join(', ')
  const numbers = sorted.map(({ partIndex }) => partIndex)
  const starts = numbers.filter((part) => !numbers.includes(part - 1))
  const ends = numbers.filter((part) => !numbers.includes(part + 1))
  return `parts ${starts.map((start, at) => (start === ends[at] ? start : `${start}–${ends[at]}`)).join(', ')}`
}

const summaryOf = (milestone: MilestoneItem): string => {
  const { progressValue, totalTarget, targetType, percentComplete, partsAwardedCount, partsTotal } = milestone
  const progress = `${lengthOf(progressValue, targetType)} of ${lengthOf(totalTarget, targetType)} (${percentComplete} %)`
  const { completedAtUtc } = milestone
  const completed = completedAtUtc === undefined ? '' : `; completed on ${completedAtUtc.slice(0, 'YYYY-MM-DD'.length)}`
  return `${progress}, ${partsAwardedCount} of ${partsTotal} parts earned${completed}.`
}

type Unit = MilestoneItem['targetType']

/** Kilometres of a distance, exact to the metre and rounded down, so that only a reached target looks reached. Metres of an elevation. */
const lengthOf = (metres: number, unit: Unit): string => {
  const dm = dmOf(metres)
  if (unit === 'ELEVATION_METERS') return `${Math.floor(dm / 10)}.${dm % 10} m`
  return `${Math.floor(dm / 10_000)}.${String(Math.floor((dm % 10_000) / 10)).padStart(3, '0')} km`
}
