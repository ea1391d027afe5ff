import { expect, test } from 'vitest'
import { forgetHandler } from '../../../../processors/engine/people/forget-ask.ts'
import type { Reader } from '../../../../projections/table.ts'

const reader: Reader = { query: async () => ({ items: [] }), get: async () => undefined, getMany: async () => [] }
const callOf = (subject: string) => ({
  id: 'i',
  name: 'n',
  kind: 'forget',
  key: 'person',
  body: { subject, answer: 'Done', data: { step: 3 } },
  reader,
  now: 0,
  signal: AbortSignal.timeout(1_000),
})

test('the log key of the ask and its parts are forgotten, and the answer is an event', async () => {
  const forgotten: string[] = []
  const handler = forgetHandler(async (subject) => {
    forgotten.push(subject)
    return { left: [] }
  })
  for (const subject of ['person', 'person~part~1'])
    expect(await handler.call(callOf(subject))).toEqual({ events: [{ type: 'Done', data: { step: 3 } }] })
  expect(forgotten).toEqual(['person', 'person~part~1'])
})

test('nobody else is forgotten', async () => {
  const handler = forgetHandler(async () => expect.unreachable())
  for (const subject of ['other', 'person2', '', '~person'])
    await expect(handler.call(callOf(subject))).rejects.toMatchObject({ code: 'bad-ask' })
})

test('if data of the person is left, the call fails and names it', async () => {
  const handler = forgetHandler(async () => ({ left: ['Generation 2 has not folded it.'] }))
  await expect(handler.call(callOf('person'))).rejects.toMatchObject({
    code: 'forget-incomplete',
    message: 'person is not completely forgotten. Generation 2 has not folded it.',
  })
})
