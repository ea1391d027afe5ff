import { describe, expect, test } from 'vitest'
import { FORGOTTEN } from '../../../schemas/event.ts'
import { given } from './given.ts'
import {
  at,
  chatLinked,
  chatUnlinked,
  created,
  currencyChanged,
  joined,
  left,
  memberName,
  META,
  migrated,
  named,
  NOW,
  profileChanged,
  profileTold,
  recorded,
  renamed,
  settingsChanged,
  trip,
  walletSet,
} from './events.ts'

describe('GroupCreated', () => {
  test('E5 E6: the group, with its creator as its first member', () =>
    given()
      .when(created())
      .then({
        [META]: {
          id: 'g1',
          chatId: '-100',
          title: 'Trip',
          currency: 'EUR',
          createdAt: '2026-11-16T12:00:00.000Z',
          memberCount: 1,
          simplify: true,
        },
        [memberName('ann')]: {
          id: 'ann',
          telegramId: null,
          name: 'Ann',
          username: 'ann',
          wallet: null,
          avatarUrl: 'https://t.example/Ann.png',
          joinedAt: '2026-11-16T12:00:00.000Z',
          GSI1PK: 'USER#ann',
          GSI1SK: 'GROUP#g1',
        },
      }))

  test('E-k: a number of Telegram is a valid id', () =>
    given()
      .when(created({ meta: { actorId: '4711', subjectId: '4711' } }))
      .then({ [memberName('4711')]: { id: '4711', telegramId: 4711 } }))

  test('E-h E-m: it derives events for its chat and its creator’s profile', () =>
    expect(
      given()
        .when(created())
        .result.derived?.map(({ event: { type, key, subjectId } }) => ({ type, key, subjectId })),
    ).toEqual([
      { type: 'ProfileTold', key: 'ann', subjectId: 'ann' },
      { type: 'ChatLinked', key: 'chat:-100', subjectId: undefined },
    ]))

  test('without a chat and a name it derives no event; with a forgotten name it derives a profile without a name', () => {
    expect(given().when(created({ chatId: null, personal: null })).result.derived).toBeUndefined()
    expect(given().when(created({ chatId: null, personal: FORGOTTEN })).result.derived).toEqual([
      { purpose: 'profile', event: { type: 'ProfileTold', key: 'ann', data: { at: NOW } } },
    ])
    given()
      .when(created({ personal: FORGOTTEN }))
      .then({ [memberName('ann')]: { name: null, username: null, avatarUrl: null } })
  })

  test('E-m: the name of another person is not used', () =>
    given()
      .when(created({ meta: { subjectId: 'bob' } }))
      .then({ [memberName('bob')]: { name: 'Ann' }, [memberName('ann')]: null }))

  test('a repeated event changes nothing, and another group with that id is refused', () => {
    const first = created()
    given(first).when(first).thenDuplicate()
    given(first).when(created()).thenRefused('group-exists', /g1/)
  })

  test('without a title, a currency or an id it is refused', () => {
    for (const bad of [
      { title: '' },
      { title: 'x'.repeat(201) },
      { currency: 'euro' },
      { chatId: 'abc' },
      { meta: { key: 'a#b' } },
      { meta: { subjectId: 'a b' } },
    ])
      given().when(created(bad)).thenRefused('group-invalid')
  })
})

describe('a group', () => {
  test('can be renamed and get another currency and settings, once per event', () => {
    given(...trip)
      .when(renamed())
      .then({ [META]: { title: 'Journey', memberCount: 3 } })
    given(...trip)
      .when(currencyChanged())
      .then({ [META]: { currency: 'TON' } })
    given(...trip)
      .when(settingsChanged())
      .then({ [META]: { simplify: false } })
    const first = renamed()
    given(...trip, first, renamed({ title: 'Back' }))
      .when(first)
      .thenDuplicate()
  })

  test('E-c: another currency converts nothing', () => {
    const { before, items } = given(...trip, recorded()).when(currencyChanged())
    expect(items['GROUP#g1 / BALANCE#EUR']).toEqual(before['GROUP#g1 / BALANCE#EUR'])
  })

  test('that does not exist is refused, and so are invalid values', () => {
    given().when(renamed()).thenRefused('group-not-found')
    given(...trip)
      .when(renamed({ title: '' }))
      .thenRefused('group-invalid')
    given(...trip)
      .when(currencyChanged({ currency: '' }))
      .thenRefused('group-invalid')
    given(...trip)
      .when(migrated({ chatId: 'x' }))
      .thenRefused('group-invalid')
  })

  test('E-h: when its chat moves, the group’s id stays, and events for both chats are derived', () => {
    const when = given(...trip).when(migrated())
    when.then({ [META]: { id: 'g1', chatId: '-200' } })
    expect(when.result.derived?.map(({ event: { type, key } }) => [type, key])).toEqual([
      ['ChatLinked', 'chat:-200'],
      ['ChatUnlinked', 'chat:-100'],
    ])
  })

  test('E-h: a move to the same chat moves nothing', () =>
    expect(given(...trip).when(migrated({ chatId: '-100' })).result.derived).toBeUndefined())

  test('its statement contains every event with its actor', () => {
    const event = renamed({ meta: { actorId: 'bob' } })
    given(...trip)
      .when(event)
      .then({
        [`GROUP#g1 / LOG#2026-11-16T12:00:00.000Z#${event.meta.eventId}`]: {
          kind: 'group-renamed',
          by: 'bob',
          byName: 'Bob',
          title: 'Journey',
          at: '2026-11-16T12:00:00.000Z',
        },
      })
  })
})

describe('MemberJoined', () => {
  test('E6: a member, in the index of their groups', () =>
    given(created())
      .when(joined('bob'))
      .then({
        [META]: { memberCount: 2 },
        [memberName('bob')]: { name: 'Bob', GSI1PK: 'USER#bob', GSI1SK: 'GROUP#g1' },
      }))

  test('a member who joins again only changes their name', () => {
    const when = given(...trip).when(joined('bob', { personal: named('Bobby'), ...at(5) }))
    when.then({
      [META]: { memberCount: 3 },
      [memberName('bob')]: { name: 'Bobby', joinedAt: '2026-11-16T12:00:00.000Z' },
    })
    when.thenWrites(memberName('bob'))
  })

  test('without a name, the one they had stays', () =>
    given(...trip)
      .when(joined('bob', { personal: null }))
      .then({ [memberName('bob')]: { name: 'Bob' } }))

  test('E-i: a member who returns keeps the time of the first joining', () => {
    const when = given(...trip, left('bob', at(1))).when(joined('bob', at(2)))
    when.then({
      [META]: { memberCount: 3 },
      [memberName('bob')]: { joinedAt: '2026-11-16T12:00:00.000Z', GSI1PK: 'USER#bob' },
    })
    expect(when.items[memberName('bob')]).not.toHaveProperty('leftAt')
  })

  test('a repeated event changes nothing, also after they left', () => {
    const first = joined('bob')
    given(created(), first).when(first).thenDuplicate()
    given(created(), first, left('bob', at(1)))
      .when(first)
      .thenDuplicate()
  })

  test('in a group that does not exist, or with an invalid id, it is refused', () => {
    given().when(joined('bob')).thenRefused('group-not-found')
    given(created()).when(joined('a b')).thenRefused('member-invalid')
  })

  test('E-f: a group has at most a thousand members', () => {
    const crowd = Array.from({ length: 999 }, (_, n) => joined(`u${n}`))
    given(created(), ...crowd)
      .when(joined('bob'))
      .thenRefused('too-many-members', /1000/)
    given(created(), ...crowd)
      .when(joined('u5'))
      .then({ [META]: { memberCount: 1000 } })
  })
})

describe('MemberLeft', () => {
  test('E-i: the row and the debts stay, and the row leaves the index of their groups', () => {
    const when = given(...trip, recorded()).when(left('bob', at(1)))
    when.then({
      [META]: { memberCount: 2 },
      [memberName('bob')]: { name: 'Bob', leftAt: '2026-11-16T12:01:00.000Z' },
      'GROUP#g1 / BALANCE#EUR': { members: { bob: { share: 1000 } } },
    })
    expect(when.items[memberName('bob')]).toMatchObject({ GSI1PK: 'USER#bob', GSI1SK: 'LEFT#g1' })
  })

  test('a repeated event changes nothing', () => {
    const first = left('bob')
    given(...trip, first)
      .when(first)
      .thenDuplicate()
    given(...trip, first)
      .when(left('bob'))
      .thenDuplicate()
    given(...trip, first, joined('bob'))
      .when(first)
      .thenDuplicate()
  })

  test('of a person who is not a member it is refused', () =>
    given(...trip)
      .when(left('eve'))
      .thenRefused('member-not-found', /^eve/))
})

describe('a member', () => {
  test('E-k: changes their name; earlier items keep the old one', () =>
    given(...trip, recorded())
      .when(profileChanged('bob'))
      .then({ [memberName('bob')]: { name: 'Robert' }, 'GROUP#g1 / PART#e1#bob': { userName: 'Bob' } }))

  test('E-m: a changed name derives an event for the profile of the member', () =>
    expect(given(...trip).when(profileChanged('bob')).result.derived).toEqual([
      {
        purpose: 'profile',
        event: { type: 'ProfileTold', key: 'bob', data: { at: NOW }, personal: named('Robert'), subjectId: 'bob' },
      },
    ]))

  test('E6 E27: sets a wallet, and removes it', () => {
    given(...trip)
      .when(walletSet('bob'))
      .then({ [memberName('bob')]: { wallet: 'UQ-bob', name: 'Bob' } })
    given(...trip, walletSet('bob'))
      .when(walletSet('bob', { personal: { wallet: null } }))
      .then({ [memberName('bob')]: { wallet: null } })
    given(...trip, walletSet('bob'))
      .when(walletSet('bob', { personal: FORGOTTEN }))
      .then({ [memberName('bob')]: { wallet: null } })
  })

  test('a repeated event changes nothing', () => {
    const first = walletSet('bob')
    given(...trip, first, walletSet('bob', { personal: { wallet: 'UQ-2' } }))
      .when(first)
      .thenDuplicate()
  })

  test('that does not exist cannot be changed', () => {
    given(...trip)
      .when(walletSet('eve'))
      .thenRefused('member-not-found')
    given().when(profileChanged('bob')).thenRefused('group-not-found')
  })
})

describe('a chat', () => {
  const CHAT = 'CHAT#-100 / GROUP'
  const other = chatLinked({ groupId: 'g2' })

  test('E-h: belongs to the first group that named it', () => {
    given()
      .when(chatLinked())
      .then({ [CHAT]: { chatId: '-100', groupId: 'g1' } })
    given(chatLinked())
      .when(other)
      .then({ [CHAT]: { groupId: 'g1' } })
  })

  test('E-h: belongs to the group that Telegram moved there, whatever group it had before', () => {
    const moved = chatLinked({ groupId: 'g2', moved: true })
    given(chatLinked())
      .when(moved)
      .then({ [CHAT]: { groupId: 'g2' } })
    given(moved)
      .when(chatLinked())
      .then({ [CHAT]: { groupId: 'g2' } })
    given(chatLinked(), moved).when(chatUnlinked()).thenUnchanged()
    given(moved, chatUnlinked({ groupId: 'g2' }))
      .when(moved)
      .thenDuplicate()
  })

  test('E-h: belongs to no group after its group has moved to another chat', () => {
    given(chatLinked())
      .when(chatUnlinked())
      .then({ [CHAT]: { groupId: null } })
    given(chatLinked(), chatUnlinked())
      .when(other)
      .then({ [CHAT]: { groupId: 'g2' } })
    given(chatLinked())
      .when(chatUnlinked({ groupId: 'g2' }))
      .thenUnchanged()
  })

  test('repeated events change nothing', () => {
    const [first, away] = [chatLinked(), chatUnlinked()]
    given(first, away).when(first).thenDuplicate()
    given(first, other, away).when(other).thenDuplicate()
    given(first, away, chatLinked()).when(away).thenDuplicate()
  })

  test('a link under another key, or for no group, is ignored', () => {
    given()
      .when(chatLinked({ chatId: '-7' }))
      .thenUnchanged()
    given()
      .when(chatLinked({ groupId: 'a b' }))
      .thenUnchanged()
  })
})

describe('ProfileTold', () => {
  const PROFILE = 'USER#4711 / PROFILE'

  test('E-m: stores the latest profile of a person from any group', () => {
    given()
      .when(profileTold())
      .then({
        [PROFILE]: { id: '4711', telegramId: 4711, name: 'Ann', username: 'ann', toldAt: '2026-11-16T12:00:00.000Z' },
      })
    given(profileTold())
      .when(profileTold({ at: NOW + 1, personal: named('Anna') }))
      .then({ [PROFILE]: { name: 'Anna' } })
  })

  test('E-m: an event without a profile changes nothing, and one with a forgotten profile has no name', () => {
    given(profileTold())
      .when(profileTold({ at: NOW + 1, personal: null }))
      .thenUnchanged()
    given(profileTold())
      .when(profileTold({ at: NOW + 1, personal: FORGOTTEN }))
      .then({ 'USER#4711 / PROFILE': { name: null, toldAt: '2026-11-16T12:00:00.001Z' } })
  })

  test('E-m: an older profile, or one of the same time, does not replace it', () => {
    given(profileTold())
      .when(profileTold({ at: NOW - 1, personal: named('Anna') }))
      .thenUnchanged()
    given(profileTold())
      .when(profileTold({ personal: named('Anna') }))
      .thenUnchanged()
  })
})
