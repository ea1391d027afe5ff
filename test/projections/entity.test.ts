import { describe, expect, test } from 'vitest'
import { getAll, partition } from '../../projections/entity.ts'
import type { Item, Key } from '../../projections/item.ts'
import type { Query } from '../../projections/table.ts'

type Note = Key & { readonly text: string }

const inRoom = partition('ROOM#', (room: string) => `ROOM#${room}`)
const doors = inRoom<Note>('door', 'DOOR')
const notes = inRoom<Note, [id: string]>('note', 'NOTE#')
const drafts = inRoom<Note, [id: string]>('draft', 'NOTE#', '#DRAFT')
const visits = inRoom<Note, [day: string, at: string, guest: string]>('visit', 'VISIT#')
const ofEpoch = partition('DEVICE#', (device: string, epoch: number) => `DEVICE#${device}@${epoch}`)
const states = ofEpoch<Note>('state', 'STATE')
const readings = ofEpoch<Note, [iso: string, id: string]>('reading', 'READING#')

describe('the key of an entity', () => {
  test.each<readonly [string, Key, string, string]>([
    ['no id', doors.key('7'), 'ROOM#7', 'DOOR'],
    ['one id', notes.key('7', 'a'), 'ROOM#7', 'NOTE#a'],
    ['one id and a suffix', drafts.key('7', 'a'), 'ROOM#7', 'NOTE#a#DRAFT'],
    ['three ids', visits.key('7', '2026-11-18', '08:00', 'ann'), 'ROOM#7', 'VISIT#2026-11-18#08:00#ann'],
    ['an empty id', notes.key('', ''), 'ROOM#', 'NOTE#'],
    ['a partition of two values', states.key('d', 2), 'DEVICE#d@2', 'STATE'],
    ['a partition of two values, and two ids', readings.key('d', 2, '08:00', 'r'), 'DEVICE#d@2', 'READING#08:00#r'],
  ])('with %s', (_what, key, PK, SK) => expect(key).toEqual({ PK, SK }))

  test('belongs to the kind that its table lists', () => {
    expect(notes.kind).toEqual({ name: 'note', pk: 'ROOM#', sk: 'NOTE#' })
    expect(drafts.kind).toEqual({ name: 'draft', pk: 'ROOM#', sk: 'NOTE#', end: '#DRAFT' })
    expect(ofEpoch<Note, [type: string]>('any', '').kind).toEqual({ name: 'any', pk: 'DEVICE#' })
  })
})

describe('the queries of an entity', () => {
  const asked: (Query | Key)[] = []
  const item: Item = { PK: 'ROOM#7', SK: 'NOTE#a', text: 'hello' }
  const reader = {
    get: async (key: Key) => (asked.push(key), item),
    getMany: async (keys: readonly Key[]) => (asked.push(...keys), keys.map(() => undefined)),
    query: async (query: Query) => (
      asked.push(query),
      { items: [item], ...(query.cursor === undefined && { cursor: 'next' }) }
    ),
  }

  test('read one item, a page, or all pages of its partition', async () => {
    expect((await notes.get(reader, '7', 'a'))?.text).toBe('hello')
    expect(await notes.page(reader, '7', { limit: 5, reverse: true })).toEqual({ items: [item], cursor: 'next' })
    expect(await readings.every(reader, 'd', 2, { limit: 5 })).toEqual([item, item])
    expect(asked.splice(0)).toEqual([
      { PK: 'ROOM#7', SK: 'NOTE#a' },
      { pk: 'ROOM#7', prefix: 'NOTE#', limit: 5, reverse: true },
      { pk: 'DEVICE#d@2', prefix: 'READING#', limit: 5 },
      { pk: 'DEVICE#d@2', prefix: 'READING#', limit: 5, cursor: 'next' },
    ])
  })

  test('read the items under an id, and those between two ids', async () => {
    await visits.page(reader, '7', { under: '2026-11-18', limit: 5 })
    await visits.page(reader, '7', { from: '2026-11-01', to: '2026-11-18', limit: 5 })
    await visits.page(reader, '7', { under: '2026-11-18', from: '', to: '09:00', limit: 5 })
    expect(asked.splice(0)).toEqual([
      { pk: 'ROOM#7', prefix: 'VISIT#2026-11-18#', limit: 5 },
      { pk: 'ROOM#7', from: 'VISIT#2026-11-01', to: 'VISIT#2026-11-18', limit: 5 },
      { pk: 'ROOM#7', from: 'VISIT#2026-11-18#', to: 'VISIT#2026-11-18#09:00', limit: 5 },
    ])
  })

  test('read items of several kinds together', async () => {
    expect(await getAll(reader, [doors.key('7'), states.key('d', 2)])).toEqual([undefined, undefined])
    expect(asked.splice(0)).toEqual([
      { PK: 'ROOM#7', SK: 'DOOR' },
      { PK: 'DEVICE#d@2', SK: 'STATE' },
    ])
  })
})
