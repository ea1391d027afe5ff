import { describe, expect, test } from 'vitest'
import { createOutcomes } from '../../../../processors/engine/run/outcomes.ts'
import { parkedFrom, insertEntry } from '../../../../processors/engine/poison/parked-entry.ts'
import type { BatchResult } from '../../../../processors/engine/run/tally.ts'
import type { Outcome } from '../../../../projections/projection.ts'
import { ledger } from '../ledger.ts'
import { memoryStore } from '../../../../testing/memory-store.ts'
import { virtualClock } from '../virtual-clock.ts'

const refused: Outcome = { kind: 'refused', refusal: { code: 'overdrawn', detail: 'There are 0.' } }
const marker = (offset: number) => ({
  PK: `OUTCOME#0#${offset}`,
  SK: 'OUTCOME',
  kind: 'refused',
  code: 'overdrawn',
  detail: 'There are 0.',
  _pos: offset,
})
const passed = (
  from: number,
  next: number,
  exceptions: readonly (readonly [number, Outcome | undefined])[] = [],
): BatchResult => ({
  partition: 0,
  from,
  next,
  exceptions: new Map(exceptions),
  events: next - from,
  parked: 0,
  conflicts: 0,
  due: {},
  newest: 0,
})
const sent = (offset: number) => ({ partition: 0, offset, key: 'a' })

const given = (pollMs?: number) => {
  const store = memoryStore()
  const clock = virtualClock()
  return {
    store,
    clock,
    outcomes: createOutcomes({
      domain: ledger,
      store: () => store,
      clock,
      ...(pollMs === undefined ? {} : { pollMs }),
    }),
  }
}

test('a sender receives the outcome of its event when its batch is stored', async () => {
  const { outcomes } = given()
  const applied = outcomes.untilOutcome(sent(3), 1_000)
  const other = outcomes.untilOutcome(sent(4), 1_000)
  outcomes.recordBatch(passed(0, 5, [[4, refused]]))
  expect(await applied).toEqual({ kind: 'applied' })
  expect(await other).toEqual(refused)
})

test('a sender that waits after the batch receives the same outcome', async () => {
  const { outcomes } = given()
  outcomes.recordBatch(passed(0, 5, [[4, refused]]))
  expect(await outcomes.untilOutcome(sent(3), 1_000)).toEqual({ kind: 'applied' })
  expect(await outcomes.untilOutcome(sent(4), 1_000)).toEqual(refused)
})

test('after the timeout the outcome is pending', async () => {
  const { outcomes, clock } = given()
  const answer = outcomes.untilOutcome(sent(3), 1_000)
  await clock.pass(1_000)
  expect(await answer).toBe('pending')
})

test.each([undefined, 25])(
  'the timeout also applies while the store does not answer (polled every %s ms)',
  async (pollMs) => {
    const [store, clock] = [memoryStore(), virtualClock()]
    const hanging = { ...store, checkpoints: () => new Promise<never>(() => {}) }
    const outcomes = createOutcomes({
      domain: ledger,
      store: () => hanging,
      clock,
      ...(pollMs === undefined ? {} : { pollMs }),
    })
    let answer: unknown
    void outcomes.untilOutcome(sent(3), 1_000).then((outcome) => (answer = outcome))
    await clock.pass(1_100)
    expect(answer).toBe('pending')
  },
)

test('in another process the checkpoint is polled, and the outcome row contains the outcome', async () => {
  const { outcomes, store, clock } = given(25)
  const applied = outcomes.untilOutcome(sent(3), 10_000)
  const other = outcomes.untilOutcome(sent(4), 10_000)
  await store.commit([[[{ put: marker(4), expect: null }]]], { partition: 0, from: 0, offset: 5 })
  await clock.pass(25)
  expect(await applied).toEqual({ kind: 'applied' })
  expect(await other).toEqual(refused)
})

test('events that were folded before this process started are reported from the checkpoints', async () => {
  const { outcomes, store, clock } = given()
  await store.commit([[[{ put: marker(2), expect: null }]]], { partition: 0, from: 0, offset: 5 })
  expect(await outcomes.untilFolded({ partition: 0, offset: 4 }, 1_000)).toBe(true)
  expect(await outcomes.untilOutcome(sent(2), 1_000)).toEqual(refused)
  const beyond = outcomes.untilFolded({ partition: 0, offset: 5 }, 1_000)
  await clock.pass(1_100)
  expect(await beyond).toBe(false)
})

test('the outcome of an event before the first batch of this process is read from its outcome row', async () => {
  const { outcomes, store } = given()
  await store.commit([[[{ put: marker(2), expect: null }]]])
  outcomes.recordBatch(passed(5, 9))
  expect(await outcomes.untilOutcome(sent(2), 1_000)).toEqual(refused)
  expect(await outcomes.untilOutcome(sent(6), 1_000)).toEqual({ kind: 'applied' })
})

test('the outcome of an event that was found applied is read from its outcome row', async () => {
  const { outcomes, store } = given()
  await store.commit([[[{ put: marker(2), expect: null }]]])
  outcomes.recordBatch(passed(0, 9, [[2, undefined]]))
  expect(await outcomes.untilOutcome(sent(2), 1_000)).toEqual(refused)
})

test('refusals that are not in memory any more are reported correctly', async () => {
  const { outcomes, store } = given()
  await store.commit([[[{ put: marker(0), expect: null }]]])
  outcomes.recordBatch(
    passed(
      0,
      10_000,
      Array.from({ length: 10_000 }, (_, offset) => [offset, refused] as const),
    ),
  )
  expect(await outcomes.untilOutcome(sent(0), 1_000)).toEqual(refused)
  expect(await outcomes.untilOutcome(sent(9_999), 1_000)).toEqual(refused)
})

test('the sender of an event behind a parked one receives the outcome parked', async () => {
  const { outcomes, store, clock } = given(25)
  const entry = parkedFrom(
    { projection: 'accounts', key: 'a', position: { partition: 0, offset: 2 }, error: new Error('broken') },
    8,
  )
  await store.commit([insertEntry(entry)], { partition: 0, from: 0, offset: 9 })
  const answer = outcomes.untilOutcome(sent(4), 1_000)
  const [before, itself] = [outcomes.untilOutcome(sent(1), 1_000), outcomes.untilOutcome(sent(2), 1_000)]
  await clock.pass(0)
  outcomes.recordBatch(passed(9, 10))
  expect(await answer).toEqual({ kind: 'parked', reason: 'broken', behind: true })
  expect(await itself).toEqual({ kind: 'parked', reason: 'broken' })
  expect(await before).toEqual({ kind: 'applied' })
})

describe('with derived events, a position counts as folded', () => {
  const row = (offset: number, kind: 'derived' | 'effect' = 'derived') => ({
    PK: 'OUTBOX#0',
    SK: `${String(offset).padStart(16, '0')}#accounts#00`,
    kind,
    _pos: offset,
  })
  const sentTo = (cause: number, position: { partition: number; offset: number }) => ({
    PK: `DERIVED#0#${cause}`,
    SK: `${String(cause).padStart(16, '0')}#accounts#00`,
    ...position,
    _pos: 1,
  })

  test('when they are sent and folded, whatever else the log contains', async () => {
    const { outcomes, store, clock } = given()
    await store.commit([[[{ put: row(4), expect: null }]]])
    let reached: boolean | undefined
    void outcomes.untilFolded({ partition: 0, offset: 4 }, 1_000, true).then((answer) => (reached = answer))
    outcomes.recordBatch(passed(0, 5))
    await clock.pass(100)
    expect(reached).toBeUndefined()
    expect(await outcomes.untilFolded({ partition: 0, offset: 4 }, 1_000)).toBe(true)
    await store.commit([
      [
        [
          { remove: row(4), expect: 4 },
          { put: sentTo(4, { partition: 1, offset: 2 }), expect: null },
        ],
      ],
    ])
    await clock.pass(100)
    expect(reached).toBeUndefined()
    outcomes.recordBatch({ ...passed(0, 2), partition: 1 })
    await clock.pass(0)
    expect(reached).toBeUndefined()
    outcomes.recordBatch({ ...passed(2, 3), partition: 1 })
    await clock.pass(0)
    expect(reached).toBe(true)
  })

  test('before effects and before events that other events derived, if their partition makes no progress', async () => {
    const { outcomes, store } = given()
    await store.commit([
      [
        [{ put: row(4, 'effect'), expect: null }],
        [{ put: row(3), expect: null }],
        [{ put: row(5), expect: null }],
        [{ put: sentTo(2, { partition: 1, offset: 9 }), expect: null }],
      ],
    ])
    outcomes.recordBatch(passed(0, 5))
    expect(await outcomes.untilFolded({ partition: 0, offset: 4 }, 1_000, true)).toBe(true)
  })

  test('not within the timeout if no process sends them', async () => {
    const { outcomes, store, clock } = given()
    await store.commit([[[{ put: row(4), expect: null }]]])
    outcomes.recordBatch(passed(0, 5))
    const answer = outcomes.untilFolded({ partition: 0, offset: 4 }, 1_000, true)
    await clock.pass(1_100)
    expect(await answer).toBe(false)
  })
})
