import { describe, expect, test } from 'vitest'
import { FORGOTTEN } from '../../../schemas/event.ts'
import { given } from './given.ts'
import { patIssued, patRevoked, patUsed } from './events.ts'

const PAT = 'PAT#p1'
const GONE = 'GONE#PAT#p1'
const issued = patIssued({ personal: { name: 'iPhone Shortcut' } })

describe('PatIssued', () => {
  test('M5 M8: a token is found by its hash in an index', () => {
    const { items } = given().when(issued)
    expect(items[PAT]).toEqual({
      PK: 'USER#ada',
      SK: PAT,
      patId: 'p1',
      name: 'iPhone Shortcut',
      scopes: ['read', 'write'],
      createdAt: '2026-11-16T12:00:00.000Z',
      GSI1PK: `PATHASH#${'ab'.repeat(32)}`,
      GSI1SK: 'METADATA',
    })
  })

  test('the token of a forgotten person has no name', () =>
    given()
      .when(patIssued({ personal: FORGOTTEN }))
      .then({ [PAT]: { name: null } }))

  test('a repeated event changes nothing', () =>
    given(issued)
      .when(patIssued({ hash: 'cd'.repeat(32) }))
      .thenDuplicate())

  test('ignored when it is repeated after the revocation', () =>
    given(issued, patRevoked()).when(issued).thenDuplicate())
})

describe('PatRevoked', () => {
  test('the token leaves the index and the list, and a GONE# item stays', () => {
    const when = given(issued).when(patRevoked())
    when.thenWrites(PAT, GONE)
    when.then({ [PAT]: null, [GONE]: { revokedAt: '2026-11-16T12:00:00.000Z' } })
  })

  test('a repeated event changes nothing', () => given(issued, patRevoked()).when(patRevoked()).thenDuplicate())

  test('refused for a token that never existed', () => given().when(patRevoked()).thenRefused('token-not-found'))
})

describe('PatUsed', () => {
  test('M5: the last day of use increases', () =>
    given(issued, patUsed())
      .when(patUsed({ date: '2026-11-17' }))
      .then({ [PAT]: { lastUsedAt: '2026-11-17' } }))

  test('ignored when late: the day never decreases', () =>
    given(issued, patUsed())
      .when(patUsed({ date: '2026-11-15' }))
      .thenUnchanged())

  test('twice on a day writes once', () => expect(given(issued, patUsed()).when(patUsed()).result).toEqual({}))

  test('ignored after the revocation, and for an invalid day', () => {
    given(issued, patRevoked()).when(patUsed()).thenUnchanged()
    given(issued)
      .when(patUsed({ date: 'yesterday' }))
      .thenUnchanged()
  })
})
