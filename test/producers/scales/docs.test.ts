import { expect, test } from 'vitest'
import { send } from '../../../testing/edge/request.ts'
import { openBar } from './bar.ts'

test('S-a GET /asyncapi.json describes the topics of the log and of devices, none of which has a wildcard', async () => {
  const { edge } = await openBar()
  const { status, body } = await send(edge.app, { url: '/asyncapi.json' })
  expect(status).toBe(200)
  expect(body).toMatchObject({
    asyncapi: '3.0.0',
    channels: {
      scalesEvents: {
        address: 'scales.events',
        messages: {
          ReadingReported: { payload: { schema: { name: 'ReadingReported', namespace: 'tributary.scales' } } },
          PatIssued: {},
        },
      },
      deviceMessages: { address: 'scale-sense/{loc}/{device}/{kind}' },
      deviceStatus: { address: 'scale-sense/{loc}/{device}/status' },
    },
  })
  const channels = body['channels'] as Readonly<Record<string, { readonly address: string; readonly messages: object }>>
  expect(channels['scalesEvents']?.messages).not.toHaveProperty('MealLogged')
  for (const { address } of Object.values(channels)) expect(address).not.toMatch(/[#+]/)
})
