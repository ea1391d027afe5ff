import { expect, test } from 'vitest'
import { activities } from '../../../processors/activities/domain.ts'
import { advance } from '../../../processors/engine/fold/advance.ts'
import { decidersOf } from '../../../processors/engine/fold/decide.ts'
import { rowRulesOf } from '../../../processors/engine/outgoing/row-rules.ts'
import { athleteKey } from '../../../projections/activities/keys.ts'
import { openCodec } from '../../../schemas/codec.ts'
import type { Event } from '../../../schemas/event.ts'
import { memoryStore } from '../../../testing/memory-store.ts'
import { ATHLETE, athleteReleased, claimed, REF } from './events.ts'

const deciders = decidersOf(activities, rowRulesOf(activities, openCodec()))

test('a released athlete leaves no id of the athlete in the table, and a redelivered claim does not bring it back', async () => {
  const store = memoryStore()
  const claim = claimed()
  const released = athleteReleased({ key: athleteKey(REF) })
  const fold = (events: readonly (readonly [offset: number, event: Event])[]) =>
    advance({
      store,
      spans: deciders.map((decider) => ({
        decider,
        key: athleteKey(REF),
        events: events.map(([offset, event]) => ({ partition: 0, offset, event })),
      })),
    })
  const domainItems = () => store.dump().filter((item) => item.includes('"PK":"STRAVA#'))
  await fold([[0, claim]])
  expect(domainItems().join()).toContain(`STRAVA#ATHLETE#${ATHLETE}`)
  await fold([[1, released]])
  expect(domainItems().join()).not.toContain(ATHLETE)
  const before = domainItems()
  await fold([[0, claim]])
  expect(domainItems()).toEqual(before)
})
