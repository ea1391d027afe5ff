import { describe, expect, test } from 'vitest'
import type { EventMeta } from '../../../schemas/event.ts'
import type { PatIssued } from '../../../schemas/generated/common.ts'
import { given } from './given.ts'
import {
  claimed,
  claimReleased,
  LOC,
  memberAdded,
  memberRemoved,
  metaOf,
  MINUTE,
  NOW,
  opened,
  SCALE,
} from './events.ts'

const TOKEN = `USER#${SCALE} / PAT#p1`
const issued = (scopes: readonly string[] = ['device'], meta: Partial<EventMeta> = {}): PatIssued => ({
  type: 'PatIssued',
  meta: metaOf({ key: SCALE, source: 'edge', ...meta }),
  data: { patId: 'p1', hash: 'ab'.repeat(32), scopes: [...scopes] },
  personal: null,
})

describe('PatIssued of a device', () => {
  test('records the claim to which it belongs and the member who created it', () =>
    given(claimed())
      .when(issued())
      .then({ [TOKEN]: { createdBy: 'ada', loc_id: LOC, claim_epoch: 1 } }))
  test('belongs to the claim of its own time, as old events do', () =>
    given(claimed(), claimReleased(), claimed({ loc_id: 'loc-002' }))
      .when(issued())
      .then({ [TOKEN]: { loc_id: 'loc-002', claim_epoch: 2 } }))
  test('belongs to the next claim while no location owns the device', () => {
    given()
      .when(issued())
      .then({ [TOKEN]: { loc_id: null, claim_epoch: 1 } })
    given(claimed(), claimReleased())
      .when(issued())
      .then({ [TOKEN]: { loc_id: null, claim_epoch: 2 } })
  })
  test('names no creator if the operator created it', () => {
    given(claimed())
      .when(issued(['device'], { actorId: SCALE, source: 'command-line' }))
      .then({ [TOKEN]: { createdBy: null, loc_id: LOC } })
    given(claimed())
      .when(issued(['device'], { actorId: SCALE }))
      .then({ [TOKEN]: { createdBy: SCALE } })
  })
  test('of a person records no claim', () =>
    expect(given(claimed()).when(issued(['read', 'write'])).items[TOKEN]).not.toHaveProperty('claim_epoch'))
  test('a repeated event changes nothing, also after the claim changed', () =>
    given(claimed(), issued(), claimReleased(), claimed({ loc_id: 'loc-002' }))
      .when(issued())
      .thenDuplicate())
})

describe('MemberRemoved', () => {
  const GONE = `LOCATION#${LOC} / GONE#MEMBER#bob`

  test('leaves the time of the latest removal, which stays when the member returns', () => {
    const [first, second] = [
      memberRemoved({ meta: { occurredAt: NOW + MINUTE } }),
      memberRemoved({ meta: { occurredAt: NOW + 3 * MINUTE } }),
    ]
    given(opened(), memberAdded())
      .when(first)
      .then({ [GONE]: { removed_at: '2026-11-16T12:01:00.000Z' } })
    given(opened(), memberAdded(), first)
      .when(memberAdded())
      .then({ [GONE]: { removed_at: '2026-11-16T12:01:00.000Z' }, [`LOCATION#${LOC} / MEMBER#bob`]: {} })
    given(opened(), memberAdded(), first, memberAdded())
      .when(second)
      .then({ [GONE]: { removed_at: '2026-11-16T12:03:00.000Z' } })
  })
})
