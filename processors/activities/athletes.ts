import type { ClaimItem, OwnerItem } from '../../projections/activities/items.ts'
import { claims, owners, refIn, stravaSubject } from '../../projections/activities/keys.ts'
import { refuse } from '../../projections/activities/refusals.ts'
import { isUser } from '../../projections/access/keys.ts'
import { bare } from '../../projections/item.ts'
import { DUPLICATE, NOTHING, type Get, type Result } from '../../projections/projection.ts'
import type { StravaAthleteClaimed, StravaAthleteReleased } from '../../schemas/generated/activities.ts'
import { hasApplied, withApplied } from '../folding/applied-events.ts'
import { startWork, type Work } from '../folding/work.ts'
import { idOf, isReference, readable } from './bodies.ts'
import { wrongLogKey } from './connections.ts'

/** The claim of an athlete: the first person who claims it is its owner, until the claim is released. */
export const stravaAthleteClaimed = (event: StravaAthleteClaimed, get: Get): Result => {
  const { data, meta, personal } = event
  const ref = refIn(meta.key)
  if (ref === undefined || !isReference(ref) || !isUser(data.userId) || data.epoch < 1) return wrongLogKey(meta.key)
  const before = get<ClaimItem>(claims.key(ref))
  if (hasApplied(before?._heard, event)) return DUPLICATE
  if (before !== undefined && before.userId !== null && before.userId !== data.userId)
    return refuse('athlete-owned', 'Another person has connected this athlete.')
  const work = startWork(get)
  const { userId, epoch, ...link } = data
  const athlete = readable(personal)
  const athleteId = idOf(athlete?.athleteId) ?? before?.athleteId ?? null
  if (before !== undefined && before.athleteId !== null && before.athleteId !== athleteId)
    work.remove(owners.key(before.athleteId))
  work.put({
    ...claims.key(ref),
    userId,
    epoch,
    athleteId,
    _heard: withApplied(before?._heard, event),
  } satisfies ClaimItem)
  if (athleteId !== null) work.put({ ...owners.key(athleteId), userId, epoch, ref } satisfies OwnerItem)
  work.derive({
    purpose: 'linked',
    event: {
      type: 'StravaAthleteLinked',
      key: userId,
      data: { ref, epoch, ...link },
      ...(athlete !== undefined && { personal: athlete, subjectId: meta.subjectId ?? stravaSubject(userId, epoch) }),
    },
  })
  return work.result()
}

export const stravaAthleteReleased = ({ data, meta }: StravaAthleteReleased, get: Get): Result => {
  const ref = refIn(meta.key)
  const before = ref === undefined || !isReference(ref) ? undefined : get<ClaimItem>(claims.key(ref))
  if (before === undefined || before.userId !== data.userId || before.epoch !== data.epoch) return NOTHING
  const work = startWork(get)
  releaseItems(work, before)
  return work.result()
}

/** Removes the owner of an athlete. The claim stays without a person, so that a repeated event is still recognised. */
export const releaseItems = (work: Work, claim: ClaimItem): void => {
  if (claim.athleteId !== null) work.remove(owners.key(claim.athleteId))
  work.put({ ...bare(claim), userId: null, athleteId: null })
}
