import { describe, expect, test } from 'vitest'
import { meals } from '../../processors/meals/domain.ts'
import { access } from '../../producers/access/access.ts'
import { mistake } from '../../producers/http/problem.ts'
import { command, question, type JsonSchema, type Route } from '../../producers/http/route.ts'
import type { Scheme } from '../../producers/http/scheme.ts'
import { accessRefusals } from '../../projections/access/refusals.ts'
import { USER_PARTITIONS, userIn, userPartition } from '../../projections/access/keys.ts'
import { isoOf } from '../../projections/instant.ts'
import type { Item, Key } from '../../projections/item.ts'
import {
  DUPLICATE,
  NOTHING,
  type Domain,
  type Get,
  type Partitions,
  type Projection,
  type Result,
} from '../../projections/projection.ts'
import type { TableSpec } from '../../projections/table.ts'
import { FORGOTTEN, type Event } from '../../schemas/event.ts'
import type { MealDeleted } from '../../schemas/generated/meals.ts'
import { domainContract } from '../../testing/contract/contract.ts'
import type { ContractCase, ContractRecord } from '../../testing/contract/case.ts'
import { edgeCaseOf, type EdgeCase } from '../../testing/contract/scene.ts'
import { FOLD_RULES } from '../../testing/contract/fold-rules.ts'
import { FORGETTING_RULES } from '../../testing/contract/forgetting-rules.ts'
import { HTTP_RULES } from '../../testing/contract/http-rules.ts'
import { TABLE_RULES } from '../../testing/contract/table-rules.ts'

// The domain of this test counts the deleted meals of each person. Like every domain, it also has access tokens.
type Fold = (event: MealDeleted, get: Get) => Result
type CountItem = Key & {
  readonly count: number
  readonly countedIds: readonly string[]
  readonly at: string
  readonly last: string
}

const countKey = (person: string): Key => ({ PK: userPartition(person), SK: 'COUNT' })

const counted: Fold = ({ meta, data }, get) => {
  const before = get<CountItem>(countKey(meta.key))
  if (before?.countedIds.includes(meta.eventId)) return DUPLICATE
  return {
    items: [
      {
        ...countKey(meta.key),
        count: (before?.count ?? 0) + 1,
        countedIds: [...(before?.countedIds ?? []), meta.eventId],
        at: isoOf(meta.occurredAt),
        last: data.mealId.slice(0, 100),
      },
    ],
  }
}

/** Returns a faulty fold: it returns the result of the correct fold, with the first item replaced by the result of `change`. */
const changed =
  (change: (item: Item, event: MealDeleted, get: Get) => object): Fold =>
  (event, get) => {
    const { items: [item] = [], ...rest } = counted(event, get)
    return item === undefined ? rest : { items: [change(item as Item, event, get) as Item] }
  }

const shared = meals.projections[0]?.folds ?? {}
const TOKENS = {
  PatIssued: shared['PatIssued'],
  PatRevoked: shared['PatRevoked'],
  PatUsed: shared['PatUsed'],
  ApiUsageSampled: shared['ApiUsageSampled'],
  PersonForgotten: shared['PersonForgotten'],
} as const

interface Parts {
  readonly fold?: Fold
  readonly folds?: Readonly<Record<string, (event: Event, get: Get) => Result>>
  readonly table?: Partial<TableSpec>
  readonly partitions?: Omit<Partitions, 'example'>
  readonly withoutTombstone?: Domain['withoutTombstone']
  readonly edge?: ContractRecord['edge']
}

const waste = ({
  fold = counted,
  folds = {},
  table = {},
  partitions = USER_PARTITIONS,
  withoutTombstone,
  edge,
}: Parts = {}): ContractCase => ({
  record: {
    domain: {
      name: 'waste',
      topic: 'waste.events',
      table: { name: 'waste', ttl: meals.table.ttl, indexes: meals.table.indexes, ...table },
      partitions: { ...partitions, example: 'USER#ada' },
      foldVersion: 1,
      ...(meals.personal && { personal: meals.personal }),
      ...(withoutTombstone && { withoutTombstone }),
      projections: [{ name: 'waste', folds: { MealDeleted: fold, ...TOKENS, ...folds } as Projection['folds'] }],
    } satisfies Domain,
    ...(edge && { edge }),
  },
  pools: { keys: ['ada', 'bob'], fields: () => ({ mealId: ['bread', 'milk'] }) },
  http: {
    prepare: async ({ token }) => ({ token: await token('ada'), values: { id: ['bread'], what: ['bread', 'milk'] } }),
  },
})

const RESULT = { type: 'object', required: ['count'], properties: { count: { type: 'integer', minimum: 1 } } } as const
const BODY = {
  type: 'object',
  additionalProperties: false,
  required: ['what'],
  properties: { what: { type: 'string', minLength: 1, maxLength: 50 } },
} as const
const PLAIN_ID = /^[a-z]{1,20}$/

const draftOf = (mealId: string) => ({ type: 'MealDeleted', data: { mealId }, personal: null })

const discard = command({
  method: 'POST',
  url: '/v1/waste',
  operationId: 'discardFood',
  summary: 'Count food that was thrown away.',
  body: BODY,
  status: 201,
  result: RESULT,
  decide: ({ body: { what } }) => ({ draft: draftOf(what) }),
  answer: async ({ caller: { reader, user } }) => reader.get(countKey(user)),
})

const read = question({
  method: 'GET',
  url: '/v1/waste/:id',
  operationId: 'readWaste',
  summary: 'How much you threw away.',
  result: { type: 'object', properties: { count: { type: 'integer' } } },
  answer: async ({ caller: { reader, user }, params: { id = '' } }) => {
    if (!PLAIN_ID.test(id))
      throw mistake(400, { pointer: 'params/id', code: 'bad-name', detail: 'An id has small letters.' })
    return (await reader.get(countKey(user))) ?? {}
  },
})

/** The edge of the domain, with one route replaced. */
const edgeWith = (
  route?: Partial<Route> & { readonly operationId: string },
  schemes: readonly Scheme[] = [],
): NonNullable<Parts['edge']> => {
  const routes = [discard, read].map((each) =>
    each.operationId === route?.operationId ? ({ ...each, ...route } as Route) : each,
  )
  return { name: 'waste', routes, access, refusals: [accessRefusals], schemes }
}

const edgeCaseWith = (...parts: Parameters<typeof edgeWith>): EdgeCase => {
  const edgeCase = edgeCaseOf(waste({ edge: edgeWith(...parts) }))
  if (edgeCase === undefined) throw new Error('The record has no edge.')
  return edgeCase
}

domainContract(waste({ edge: edgeWith() }))

const [FOLDED, TOTAL, LISTED, REPEATED, DUPLICATES, ORDER, BATCHES] = Object.keys(FOLD_RULES) as [
  string,
  string,
  string,
  string,
  string,
  string,
  string,
]
const [DECLARED, EXPIRY, KEYS] = Object.keys(TABLE_RULES) as [string, string, string]
const [UNREADABLE, LEFT] = Object.keys(FORGETTING_RULES) as [string, string]
const [PATHS, BODIES, ACCEPTED, BAD_BODIES, BAD_QUERIES, TOKENLESS, OPENAPI] = Object.keys(HTTP_RULES) as [
  string,
  string,
  string,
  string,
  string,
  string,
  string,
]

/** Returns a faulty fold: it counts in a variable of the process, and not in the table. */
const countedInMemory = (): Fold => {
  let count = 0
  return changed((item) => ({ ...item, count: (count += 1) }))
}

const countedInProcess = (): Fold => {
  const known = new Map<string, number>()
  return changed((item, { meta }) => {
    known.set(meta.key, (known.get(meta.key) ?? 0) + 1)
    return { ...item, count: known.get(meta.key) }
  })
}

const MISTAKES: readonly (readonly [mistake: string, rule: string, parts: () => Parts])[] = [
  ['a fold of an event that has no schema', FOLDED, () => ({ folds: { FoodEaten: () => NOTHING } })],
  [
    'a fold that throws for a strange time',
    TOTAL,
    () => ({ fold: changed((item, { meta }) => ({ ...item, at: new Date(meta.occurredAt).toISOString() })) }),
  ],
  [
    'a fold that changes what it read',
    TOTAL,
    () => ({
      fold: (event, get) => {
        const before = get<{ -readonly [Name in keyof CountItem]: CountItem[Name] }>(countKey(event.meta.key))
        if (before !== undefined) before.count += 1
        return counted(event, get)
      },
    }),
  ],
  [
    'an item with a number as sort key',
    TOTAL,
    () => ({ fold: changed((item, { meta }) => ({ ...item, SK: meta.occurredAt })) }),
  ],
  [
    'an item with a sort key of any length',
    TOTAL,
    () => ({ fold: changed((item, { data }) => ({ ...item, SK: `COUNT#${data.mealId}` })) }),
  ],
  [
    'an item that holds no number',
    TOTAL,
    () => ({ fold: changed((item, { data }) => ({ ...item, last: Number(data.mealId) })) }),
  ],
  ['an index key of another type', TOTAL, () => ({ fold: changed((item) => ({ ...item, GSI1PK: 5 })) })],
  [
    'an event that writes only items that leave no tombstone',
    TOTAL,
    () => ({ withoutTombstone: ({ SK }) => SK === 'COUNT' }),
  ],
  ['an item of another log key', TOTAL, () => ({ fold: changed((item) => ({ ...item, PK: userPartition('all') })) })],
  [
    'a refusal with a code that its edge does not list',
    LISTED,
    () => ({ fold: () => ({ refusal: { code: 'full', detail: 'No.' } }), edge: edgeWith() }),
  ],
  ['a result that depends on the process', REPEATED, () => ({ fold: countedInMemory() })],
  [
    'a fold that counts a duplicate twice',
    DUPLICATES,
    () => ({ fold: changed((item) => ({ ...item, countedIds: [] })) }),
  ],
  [
    'a fold that remembers the last event only',
    DUPLICATES,
    () => ({ fold: changed((item, { meta }) => ({ ...item, countedIds: [meta.eventId] })) }),
  ],
  [
    'an item that two log keys share',
    ORDER,
    () => ({
      fold: changed((item, { meta }) => ({ ...item, PK: userPartition('all'), by: meta.key })),
      partitions: { keyIn: (pk, item) => String(item?.['by'] ?? userIn(pk)) },
    }),
  ],
  [
    "a fold that reads another person's item",
    TOTAL,
    () => ({
      fold: (event, get) => {
        const sum = ['ada', 'bob'].reduce((count, person) => count + (get<CountItem>(countKey(person))?.count ?? 0), 1)
        return { items: [{ ...countKey(event.meta.key), count: sum, countedIds: [], at: '', last: '' }] }
      },
    }),
  ],
  ['a fold that keeps its state beside the table', BATCHES, () => ({ fold: countedInProcess() })],
  [
    'two indexes of one name',
    DECLARED,
    () => ({ table: { indexes: [...meals.table.indexes, ...meals.table.indexes] } }),
  ],
  [
    'a key attribute of two types',
    DECLARED,
    () => ({
      table: {
        indexes: [...meals.table.indexes, { name: 'numbers', pk: 'day', sk: 'GSI1SK', number: true, project: 'all' }],
      },
    }),
  ],
  [
    'an expiry in milliseconds',
    EXPIRY,
    () => ({ fold: changed((item, { meta }) => ({ ...item, ttl: meta.recordedAt })) }),
  ],
  [
    'a key with a value that is missing',
    KEYS,
    () => ({ fold: changed((item, { data }) => ({ ...item, SK: `COUNT#${(data as { of?: string }).of}` })) }),
  ],
  [
    'a key of the engine',
    KEYS,
    () => ({
      fold: changed((item, { meta }) => ({ ...item, PK: 'OUTBOX#0', by: meta.key })),
      partitions: { keyIn: (pk, item) => String(item?.['by'] ?? userIn(pk)) },
    }),
  ],
  [
    'an item outside of the partitions of its log key',
    KEYS,
    () => ({ partitions: { of: () => ['USER#nobody'], keyIn: userIn } }),
  ],
  [
    'a decision that depends on personal data',
    UNREADABLE,
    () => ({
      folds: {
        PatIssued: (event, get) =>
          event.personal === FORGOTTEN ? NOTHING : (TOKENS.PatIssued?.(event, get) ?? NOTHING),
      },
    }),
  ],
  ['a text that stays when its person is forgotten', LEFT, () => ({ folds: { PersonForgotten: () => NOTHING } })],
]

const RULES = { ...FOLD_RULES, ...TABLE_RULES, ...FORGETTING_RULES }

describe('the suite reports a domain with', () => {
  test.each(MISTAKES)('%s: %s', async (_mistake, rule, parts) => {
    await expect((async () => RULES[rule]?.(waste(parts())))()).rejects.toThrow()
  })
})

const anyBody: JsonSchema = { ...BODY, additionalProperties: true }

const WRONG_ROUTES: readonly (readonly [
  mistake: string,
  rule: string,
  route: Partial<Route> & { readonly operationId: string },
])[] = [
  [
    'that fails for a strange id',
    PATHS,
    { operationId: 'readWaste', answer: async ({ params: { id = '' } }) => ({ count: BigInt(id) > 0n ? 1 : 0 }) },
  ],
  [
    'that makes a log key of any text',
    BODIES,
    {
      operationId: 'discardFood',
      decide: ({ body }) => ({ key: (body as { what: string }).what, draft: draftOf('bread') }),
    },
  ],
  [
    'that fails for a value that its schema allows',
    BODIES,
    {
      operationId: 'discardFood',
      body: { ...BODY, properties: { what: { type: ['string', 'null'] } } },
      decide: ({ body }) => ({ draft: draftOf((body as { what: string }).what.trim()) }),
    },
  ],
  [
    'that answers what its schema does not allow',
    BODIES,
    { operationId: 'discardFood', answer: async () => ({ count: 0 }) },
  ],
  [
    'that refuses every body',
    ACCEPTED,
    {
      operationId: 'discardFood',
      decide: () => {
        throw mistake(400, { pointer: '/what', code: 'bad-format', detail: 'Nothing is right.' })
      },
    },
  ],
  ['that accepts unknown fields', BAD_BODIES, { operationId: 'discardFood', body: anyBody }],
  [
    'that does not check its limit',
    BAD_QUERIES,
    {
      operationId: 'readWaste',
      query: {
        type: 'object',
        additionalProperties: false,
        properties: { limit: { type: 'string' }, cursor: { type: 'string' } },
      },
    },
  ],
  [
    'that accepts unknown query parameters',
    BAD_QUERIES,
    { operationId: 'readWaste', query: { type: 'object', additionalProperties: true, properties: {} } },
  ],
  ['without a summary', OPENAPI, { operationId: 'readWaste', summary: '' }],
]

describe('the suite reports a route', () => {
  test.each(WRONG_ROUTES)('%s: %s', async (_mistake, rule, route) => {
    await expect((async () => HTTP_RULES[rule]?.(edgeCaseWith(route)))()).rejects.toThrow()
  })

  test(`that lets strangers in: ${TOKENLESS}`, async () => {
    const everybody: Scheme = { name: 'Basic', description: 'Anybody.', recognise: () => ({ user: 'ada' }) }
    await expect((async () => HTTP_RULES[TOKENLESS]?.(edgeCaseWith(undefined, [everybody])))()).rejects.toThrow()
  })
})
