import { userIn, userPartition } from '../../../../projections/access/keys.ts'
import type { Item, Key } from '../../../../projections/item.ts'
import { projection, removed, type Domain, type Get, type PersonalItems } from '../../../../projections/projection.ts'
import { FORGOTTEN } from '../../../../schemas/event.ts'
import type { PersonForgotten } from '../../../../schemas/generated/common.ts'
import type { MealDeleted, MealLogged } from '../../../../schemas/generated/meals.ts'

type Sync = Item & { readonly subject: string; readonly note: string | null }

const syncKey = (key: string, id: string): Key => ({ PK: userPartition(key), SK: `SYNC#${id}` })
const noteKey = (key: string, note: string): Key => ({ PK: userPartition(key), SK: `NOTE#${note}` })

const noteLogged = ({ meta, data, personal }: MealLogged) => {
  const note = personal === null || personal === FORGOTTEN ? null : personal.notes
  const sync = { ...syncKey(meta.key, data.mealId), subject: meta.subjectId, note }
  return { items: note === null ? [sync] : [sync, { ...noteKey(meta.key, note), subject: meta.subjectId }] }
}

/** The tombstone of the note contains its text in its key. */
const noteDeleted = ({ meta, data }: MealDeleted, get: Get) => {
  const sync = get<Sync>(syncKey(meta.key, data.mealId))
  if (sync === undefined) return {}
  const { note, subject, PK, SK } = sync
  return { items: [{ PK, SK, subject, note: null }, ...(note === null ? [] : [removed(noteKey(meta.key, note))])] }
}

const forgotten = ({ meta, data }: PersonForgotten, get: Get) => {
  const syncs = data.items.flatMap(({ pk, sk }) => get<Sync>({ PK: pk, SK: sk }) ?? [])
  return {
    items: syncs.flatMap((sync) => [
      removed(sync),
      ...(typeof sync.note === 'string' ? [removed(noteKey(meta.key, sync.note))] : []),
    ]),
  }
}

const personal = (prefix: string): PersonalItems => ({
  partitions: (key) => [userPartition(key)],
  hasPersonalData: ({ SK, ...item }, subject) => SK.startsWith(prefix) && item['subject'] === subject,
})

const domain = (name: string, table: string): Omit<Domain, 'projections'> => ({
  name,
  topic: 'notes.events',
  table: { name: table, ttl: 'ttl', indexes: [] },
  partitions: { of: (key) => [userPartition(key)], keyIn: userIn, example: 'USER#ada' },
  foldVersion: 1,
})

/** Stores the notes of meals under keys that contain their text. The data belongs to the subject of the event, which can be a part of a person. */
export const notes: Domain = {
  ...domain('notes', 'Notes'),
  personal: personal('SYNC#'),
  projections: [
    projection<MealLogged | MealDeleted | PersonForgotten>('notes', {
      MealLogged: noteLogged,
      MealDeleted: noteDeleted,
      PersonForgotten: forgotten,
    }),
  ],
}

/** Folds the same log into a table of its own. */
export const noteAudit: Domain = {
  ...domain('notes-audit', 'NotesAudit'),
  personal: personal('AUDIT#'),
  projections: [
    projection<MealLogged | PersonForgotten>('audit', {
      MealLogged: ({ meta, data, personal: text }) => ({
        items: [
          {
            PK: userPartition(meta.key),
            SK: `AUDIT#${data.mealId}`,
            subject: meta.subjectId,
            note: text === null || text === FORGOTTEN ? null : text.notes,
          },
        ],
      }),
      PersonForgotten: ({ data }, get) => ({
        items: data.items
          .filter(({ sk }) => sk.startsWith('AUDIT#'))
          .flatMap(({ pk, sk }) => get({ PK: pk, SK: sk }) ?? [])
          .map(removed),
      }),
    }),
  ],
}
