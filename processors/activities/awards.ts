import type {
  AwardItem,
  ConnectionItem,
  MilestoneItem,
  MilestonePartsItem,
  MilestonesItem,
  SagaItem,
} from '../../projections/activities/items.ts'
import {
  awardKey,
  connections,
  milestoneLists,
  milestoneParts,
  milestones,
  sagas,
  stravaSubject,
} from '../../projections/activities/keys.ts'
import { dmOf, metresOf, partsEarnedAt } from '../../projections/activities/milestones.ts'
import { scopeOf } from '../../projections/activities/personal.ts'
import { isoOf, msOf } from '../../projections/instant.ts'
import { NOTHING, type Get, type Result } from '../../projections/projection.ts'
import type { Event } from '../../schemas/event.ts'
import type { AwardsDue, AwardsTold, AwardsToldPersonal, AwardTold } from '../../schemas/generated/activities.ts'
import { startWork, type Work } from '../folding/work.ts'
import { readable } from './bodies.ts'
import { refusedFor, unitIn } from './connections.ts'
import { dueAfter } from './instants.ts'

/** The maximum number of awards that one event mints. A timer mints the others. */
const MAX_AWARDS = 40

/** The states of an award in `_awards` of a milestone. */
const NONE = '.'
const MINTED = 'm'
const TOLD = 't'

export const noAwards = (partsTotal: number): string => NONE.repeat(partsTotal)

const withAward = (awards: string, part: number, state: string): string =>
  awards.slice(0, part - 1) + state + awards.slice(part)

export const withoutAwards = (awards: string, parts: readonly number[]): string =>
  parts.reduce((left, part) => withAward(left, part, NONE), awards)

const countOf = (awards: string): number => awards.length - awards.split(NONE).length + 1

/** The awards of a milestone that events contain. */
export const recordedAwards = (awards: string): Pick<MilestoneItem, '_awards' | 'partsAwardedCount'> => {
  const _awards = awards.replaceAll(MINTED, NONE)
  return { _awards, partsAwardedCount: countOf(_awards) }
}

/** The parts of a milestone that have an award in this state. Default: in any state. */
export const awardedParts = (awards: string, state?: 'minted'): readonly number[] =>
  [...awards].flatMap((each, index) => ((state === undefined ? each !== NONE : each === MINTED) ? [index + 1] : []))

/** The parts that the highest progress has earned and that have no award. */
const pendingParts = (milestone: MilestoneItem): readonly number[] => {
  const earned = partsEarnedAt(dmOf(milestone.highWaterProgress), milestone)
  return [...milestone._awards].flatMap((each, index) => (each === NONE && index < earned ? [index + 1] : []))
}

/**
 * Mints the awards that the milestones have earned, in the order of the milestones and parts, and derives AwardsTold for each milestone. Mints at
 * most `MAX_AWARDS`: if there are more, arms the timer `awards`, which is due at once.
 */
export const mintAwards = (work: Work, event: Event, ids: readonly string[]): void => {
  const { key: user } = event.meta
  let left = MAX_AWARDS
  for (const id of ids) {
    const milestone = work.get(milestones.key(user, id))
    const pending = milestone === undefined ? [] : pendingParts(milestone)
    const parts = pending.slice(0, left)
    left -= parts.length
    if (milestone !== undefined && parts.length > 0) mint(work, event, milestone, parts)
    if (parts.length < pending.length)
      return work.arm({
        name: 'awards',
        at: dueAfter(event),
        event: { type: 'AwardsDue', key: user, data: { cursor: MAX_AWARDS } },
      })
  }
}

const mint = (work: Work, event: Event, before: MilestoneItem, parts: readonly number[]): void => {
  const { key: user, occurredAt } = event.meta
  const at = isoOf(occurredAt)
  const _awards = parts.reduce((awards, part) => withAward(awards, part, MINTED), before._awards)
  const isCompleted = before.status === 'ACTIVE' && !_awards.includes(NONE)
  const milestone: MilestoneItem = {
    ...before,
    _awards,
    partsAwardedCount: countOf(_awards),
    ...(isCompleted && { status: 'COMPLETED', completedAtUtc: at }),
  }
  work.put(milestone)
  for (const part of parts)
    work.put(awardOf(work.get, user, milestone, { part, at, progress: milestone.highWaterProgress }))
  tell(
    work,
    event,
    milestone,
    parts.map((part) => ({ part, at: msOf(at) })),
  )
}

interface Minted {
  readonly part: number
  readonly at: string
  readonly progress: number | null
}

const awardOf = (get: Get, user: string, { milestoneId }: MilestoneItem, { part, at, progress }: Minted): AwardItem => {
  const parts = get<MilestonePartsItem>(milestoneParts.key(user, milestoneId))?.parts
  const { partName = '', meshFile = '', attachPoint = '' } = parts?.[part - 1] ?? {}
  return {
    ...awardKey(user, milestoneId, part),
    partIndex: part,
    partName,
    meshFile,
    attachPoint,
    awardedAtUtc: at,
    progressValueAtAward: progress,
    epoch: unitIn(get, user),
  }
}

/** Derives AwardsTold. The progress is sealed with the key of the current link, or of the link whose data is being erased. */
const tell = (
  work: Work,
  { meta: { key: user } }: Event,
  milestone: MilestoneItem,
  awards: readonly AwardTold[],
): void => {
  const { milestoneId, version, completedAtUtc } = milestone
  const { epoch } = work.get<SagaItem>(sagas.key(user)) ??
    work.get<ConnectionItem>(connections.key(user)) ?? { epoch: 0 }
  const personal: AwardsToldPersonal = {
    progressDm: awards.map(({ part }) => dmOf(work.get(awardKey(user, milestoneId, part))?.progressValueAtAward ?? 0)),
  }
  work.derive({
    purpose: `told:${milestoneId}`,
    event: {
      type: 'AwardsTold',
      key: user,
      data: { milestoneId, version, awards, completedAt: completedAtUtc === undefined ? null : msOf(completedAtUtc) },
      ...(awards.length > 0 && { personal, subjectId: stravaSubject(user, epoch) }),
    },
  })
}

/** True if the milestone has awards or a version that no event AwardsTold contains. */
export const isUntold = ({ _awards, version, _toldVersion }: MilestoneItem): boolean =>
  _awards.includes(MINTED) || version > _toldVersion

/** Derives AwardsTold with the awards of a milestone that are not told yet, so that they survive the erasure of the activities. */
export const tellMinted = (work: Work, event: Event, milestone: MilestoneItem): void => {
  const { key: user } = event.meta
  const awards = awardedParts(milestone._awards, 'minted').map((part) => ({
    part,
    at: msOf(work.get(awardKey(user, milestone.milestoneId, part))?.awardedAtUtc ?? isoOf(event.meta.occurredAt)),
  }))
  tell(work, event, milestone, awards)
}

/** Mints further awards of all milestones, archived ones among them, because they were earned before. */
export const awardsDue = (event: AwardsDue, get: Get): Result => {
  const { key: user } = event.meta
  const work = startWork(get)
  work.arm({ name: 'awards', at: null })
  if (refusedFor(get, user) === undefined)
    mintAwards(work, event, get<MilestonesItem>(milestoneLists.key(user))?.all ?? [])
  return work.result()
}

/**
 * Stores the awards of a milestone as told. They stay if the activities by which they were earned are erased, or if a new sport map does not count
 * these activities.
 */
export const awardsTold = (event: AwardsTold, get: Get): Result => {
  const { data, meta } = event
  const work = startWork(get)
  const before = get<MilestoneItem>(milestones.key(meta.key, data.milestoneId))
  if (before === undefined || !isVersion(data.version)) return NOTHING
  const progressDm = readable(event.personal)?.progressDm ?? []
  let { _awards } = before
  for (const [index, { part, at }] of data.awards.entries()) {
    if (!Number.isInteger(part) || part < 1 || part > before.partsTotal || _awards[part - 1] === TOLD) continue
    const progress = progressDm[index]
    _awards = withAward(_awards, part, TOLD)
    work.put({
      ...awardOf(get, meta.key, before, {
        part,
        at: isoOf(at),
        progress: progress === undefined ? null : metresOf(Math.max(0, progress)),
      }),
      epoch: sealedUnit(event) ?? unitIn(get, meta.key),
      told: true,
    } satisfies AwardItem)
  }
  work.put({
    ...before,
    _awards,
    partsAwardedCount: countOf(_awards),
    version: Math.max(before.version, data.version),
    _toldVersion: Math.max(before._toldVersion, data.version),
    ...(data.completedAt !== null && {
      status: 'COMPLETED',
      completedAtUtc: isoOf(data.completedAt),
      _toldCompleted: true,
    }),
  } satisfies MilestoneItem)
  return work.result()
}

/** The link whose key seals the progress in the event. It can be older than the current link. Undefined: no key of one link. */
const sealedUnit = ({ meta: { subjectId } }: AwardsTold): number | undefined => {
  const { epoch } = scopeOf(subjectId ?? '')
  return epoch > 0 && epoch < Infinity ? epoch : undefined
}

const isVersion = (version: number): boolean => version >= 1 && version < MAX_VERSION
const MAX_VERSION = 1_000_000_000
