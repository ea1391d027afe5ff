import { describe, expect, test } from 'vitest'
import type { PersonForgotten } from '../../../schemas/generated/common.ts'
import { given } from './given.ts'
import {
  archived,
  at,
  confirmed,
  created,
  DAY,
  HASH,
  invited,
  joined,
  left,
  memberName,
  META,
  metaOf,
  MINUTE,
  NOW,
  ownerChanged,
  proposed,
  recorded,
  removed,
  renamed,
  revoked,
  SECRET,
  trip,
  unarchived,
} from './events.ts'

const ROSTER = 'GROUP#g1 / ROSTER'
const INVITATIONS = 'GROUP#g1 / INVITATIONS'
const guest = (more: object = {}) => joined('dan', { invitation: SECRET, ...more })
const telegram = { source: 'telegram' } as const

describe('InvitationCreated', () => {
  test('stores the hash of the secret, its creator and its expiry', () =>
    given(...trip)
      .when(invited({ meta: { actorId: 'bob' } }))
      .then({
        [INVITATIONS]: {
          open: [
            {
              id: 'i1',
              hash: SECRET,
              number: 0,
              createdBy: 'bob',
              createdAt: '2026-11-16T12:00:00.000Z',
              expiresAt: '2026-11-23T12:00:00.000Z',
            },
          ],
          next: 1,
        },
      }))

  test('by a stranger, or by somebody who left, is refused', () => {
    given(...trip)
      .when(invited({ meta: { actorId: 'eve' } }))
      .thenRefused('members-only')
    given(...trip, left('bob'))
      .when(invited({ meta: { actorId: 'bob' } }))
      .thenRefused('member-left', /^bob/)
  })

  test('without a usable id, hash or expiry is refused', () => {
    for (const bad of [
      { invitationId: 'a b' },
      { secretHash: 'x' },
      { expiresAt: NOW },
      { expiresAt: NOW + 31 * DAY },
      { expiresAt: Number.MAX_SAFE_INTEGER },
    ])
      given(...trip)
        .when(invited(bad))
        .thenRefused('invitation-invalid')
  })

  test('a repeated event changes nothing, also after the revocation', () => {
    const first = invited()
    given(...trip, first)
      .when(first)
      .thenDuplicate()
    given(...trip, first, revoked())
      .when(first)
      .thenDuplicate()
  })
})

describe('MemberJoined by an invitation', () => {
  test('E26: admits until it expires', () => {
    given(...trip, invited({ expiresAt: NOW + MINUTE }))
      .when(guest({ meta: { occurredAt: NOW + MINUTE - 1 } }))
      .then({ [memberName('dan')]: { id: 'dan' }, [META]: { memberCount: 4 } })
    given(...trip, invited({ expiresAt: NOW + MINUTE }))
      .when(guest({ meta: { occurredAt: NOW + MINUTE } }))
      .thenRefused('invitation-only')
  })

  test('is refused if it is unknown or revoked, or if its creator left', () => {
    given(...trip)
      .when(guest())
      .thenRefused('invitation-only')
    given(...trip, invited(), revoked())
      .when(guest())
      .thenRefused('invitation-only')
    given(...trip, invited({ meta: { actorId: 'bob' } }), left('bob'))
      .when(guest())
      .thenRefused('invitation-only')
    given(...trip, invited({ meta: { actorId: 'bob' } }), removed('bob'))
      .when(guest())
      .thenRefused('invitation-only')
  })

  test('from before a removal does not admit the removed person, whatever the clocks of the edges show', () => {
    const old = invited({ meta: { occurredAt: NOW + DAY }, expiresAt: NOW + 3 * DAY })
    given(...trip, old, removed('bob', at(1)))
      .when(joined('bob', { invitation: SECRET, ...at(2) }))
      .thenRefused('invitation-only', /removed/)
    given(...trip, removed('bob', at(9)), invited(at(1)))
      .when(joined('bob', { invitation: SECRET, ...at(2) }))
      .then({ [META]: { memberCount: 3 } })
    const { items } = given(...trip, removed('bob'), invited()).when(joined('bob', { invitation: SECRET }))
    for (const gone of ['leftAt', 'removedAt', 'admittedFrom'])
      expect(items[memberName('bob')]).not.toHaveProperty(gone)
  })
})

describe('MemberJoined without an invitation', () => {
  test('is accepted as before in old logs, but for a removed person', () => {
    given(...trip)
      .when(joined('dan'))
      .then({ [META]: { memberCount: 4 } })
    given(...trip, removed('bob'))
      .when(joined('bob'))
      .thenRefused('invitation-only')
  })

  test('by a chat admits to the group of that chat only', () => {
    given(...trip)
      .when(joined('dan', { chatId: '-100' }))
      .then({ [META]: { memberCount: 4 } })
    given(...trip)
      .when(joined('dan', { chatId: '-7' }))
      .thenRefused('invitation-only')
  })

  test('Telegram admits people whom the chat removed, and not those whom the owner removed', () => {
    given(...trip, removed('bob'))
      .when(joined('bob', { meta: telegram }))
      .thenRefused('invitation-only')
    const kicked = removed('bob', { meta: { ...telegram, actorId: 'admin' } })
    given(...trip, kicked)
      .when(joined('bob', { meta: telegram }))
      .then({ [META]: { memberCount: 3 } })
    given(...trip, kicked)
      .when(joined('bob', { chatId: '-100' }))
      .thenRefused('invitation-only')
    given(...trip, kicked, removed('bob'))
      .when(joined('bob', { meta: telegram }))
      .thenRefused('invitation-only')
  })
})

describe('the owner', () => {
  test('is the creator, also in old groups, or else the first member', () => {
    given()
      .when(created())
      .then({ [META]: { ownerId: 'ann' }, [ROSTER]: { members: { ann: '2026-11-16T12:00:00.000Z' } } })
    given()
      .when(created({ personal: null, meta: { actorId: null, subjectId: null } }))
      .then({ [META]: { ownerId: null } })
    given(created({ personal: null, meta: { actorId: null, subjectId: null } }))
      .when(joined('bob'))
      .then({ [META]: { ownerId: 'bob', memberCount: 1 } })
  })

  test('if the owner leaves or is removed, the member who joined first becomes the owner, the lower id among equals', () => {
    const history = [created(), joined('cy', at(2)), joined('bob', at(2)), joined('dan', at(1))]
    given(...history)
      .when(left('ann'))
      .then({ [META]: { ownerId: 'dan' } })
    given(...history, left('dan'))
      .when(left('ann'))
      .then({ [META]: { ownerId: 'bob' } })
    given(...history)
      .when(removed('ann', { meta: { ...telegram, actorId: 'admin' } }))
      .then({ [META]: { ownerId: 'dan' } })
    given(created())
      .when(left('ann'))
      .then({ [META]: { ownerId: null, memberCount: 0 }, [ROSTER]: { members: {} } })
  })

  test('a member who returns keeps the time of their first joining, and owns nothing', () =>
    given(...trip, left('ann', at(1)), joined('ann', at(2)))
      .when(left('bob', at(3)))
      .then({ [META]: { ownerId: 'ann' } }))

  test('can hand over, remove and archive; others cannot', () => {
    given(...trip)
      .when(ownerChanged('bob'))
      .then({ [META]: { ownerId: 'bob' } })
    for (const event of [
      ownerChanged('bob', { meta: { actorId: 'bob' } }),
      removed('cy', { meta: { actorId: 'bob' } }),
      archived({ meta: { actorId: 'bob' } }),
      unarchived({ meta: { actorId: 'bob' } }),
    ]) {
      given(...trip)
        .when(event)
        .thenRefused('owner-only')
    }
    given(...trip, ownerChanged('bob'))
      .when(ownerChanged('bob', { meta: { actorId: 'bob' } }))
      .thenDuplicate()
    given(...trip, left('cy'))
      .when(ownerChanged('cy'))
      .thenRefused('member-left')
  })

  test('if the owner is forgotten, another member becomes the owner', () => {
    const forgotten: PersonForgotten = {
      type: 'PersonForgotten',
      meta: metaOf({ subjectId: 'ann', actorId: null, source: 'forget' }),
      data: { items: [{ pk: 'GROUP#g1', sk: 'USER#ann' }] },
      personal: null,
    }
    given(...trip, invited())
      .when(forgotten)
      .then({
        [META]: { ownerId: 'bob', memberCount: 3 },
        [memberName('ann')]: { name: null },
        [ROSTER]: { members: { bob: expect.any(String) as string } },
        [INVITATIONS]: { open: [] },
      })
    given(...trip, forgotten)
      .when(left('bob'))
      .then({ [META]: { ownerId: 'cy' } })
  })
})

describe('GroupMemberRemoved', () => {
  test('E-i: the row and the balance stay, and no list of the person contains the group', () =>
    given(...trip, recorded())
      .when(removed('bob', at(1)))
      .then({
        [META]: { memberCount: 2 },
        [memberName('bob')]: {
          leftAt: '2026-11-16T12:01:00.000Z',
          removedAt: '2026-11-16T12:01:00.000Z',
          GSI1PK: 'USER#bob',
          GSI1SK: 'REMOVED#g1',
        },
        'GROUP#g1 / BALANCE#EUR': { members: { bob: { share: 1000 } } },
      }))

  test('of a person who left does not count them again', () =>
    given(...trip, left('bob'))
      .when(removed('bob', at(1)))
      .then({
        [META]: { memberCount: 2 },
        [memberName('bob')]: { leftAt: '2026-11-16T12:00:00.000Z', removedAt: '2026-11-16T12:01:00.000Z' },
      }))

  test('a repeated event changes nothing; a removal of a stranger is refused', () => {
    given(...trip, removed('bob'))
      .when(removed('bob'))
      .thenDuplicate()
    given(...trip)
      .when(removed('eve'))
      .thenRefused('member-not-found')
  })

  test('keeps the removed person from changing the group', () =>
    given(...trip, removed('bob'))
      .when(recorded({ splits: [{ userId: 'ann', minor: 3000n, bp: null, shares: null }], meta: { actorId: 'bob' } }))
      .thenRefused('members-only'))
})

describe('an archived group', () => {
  const shut = [...trip, recorded(), proposed(), archived({ meta: { occurredAt: NOW + MINUTE } })] as const

  test('refuses commands of people, except its unarchiving', () => {
    for (const event of [
      recorded({ expenseId: 'e2' }),
      renamed(),
      joined('dan'),
      left('bob'),
      invited(),
      ownerChanged('bob'),
      removed('bob'),
      confirmed(),
    ])
      given(...shut)
        .when(event)
        .thenRefused('group-archived')
    const { items } = given(...shut).when(unarchived())
    expect(items[META]).not.toHaveProperty('archivedAt')
    given(...shut)
      .when(archived())
      .thenDuplicate()
  })

  test('accepts what Telegram reports, and the outcome of a claim', () => {
    given(...shut)
      .when(left('bob', { meta: telegram }))
      .then({ [META]: { memberCount: 2 } })
    given(...shut)
      .when(confirmed({ txHash: HASH, meta: { source: 'derived' } }))
      .then({ 'GROUP#g1 / SETTLE#2026-11-16T12:00:00.000Z#s1': { status: 'completed' } })
  })
})

test('E9: every settlement has a comment of its own, also among groups', () => {
  const commentIn = (group: string, id: string) =>
    given(created({ chatId: null, meta: { key: group } }), joined('bob', { meta: { key: group } })).when(
      proposed({ settlementId: id, meta: { key: group } }),
    ).items[`GROUP#${group} / SETTLE#2026-11-16T12:00:00.000Z#${id}`]?.['comment']
  const comments = [commentIn('g1', 's1'), commentIn('g1', 's2'), commentIn('g2', 's1')]
  expect(new Set(comments).size).toBe(3)
  for (const comment of comments) expect(comment).toMatch(/^[0-9A-HJKMNP-TV-Z]{10}$/)
})
