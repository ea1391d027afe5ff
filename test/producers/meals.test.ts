import { describe, expect, test } from 'vitest'
import { BREAKFAST, openMemoryEdge, send } from './memory-edge.ts'

describe('POST /v1/meals', () => {
  test('M2 a logged meal is answered as stored, with its event, and read back the same', async () => {
    const { app, token } = await openMemoryEdge()
    const ann = await token('ann')
    const created = await send(app, { method: 'POST', url: '/v1/meals', token: ann, body: BREAKFAST })
    expect(created.text).toContain('Oats')
    expect(created.status).toBe(201)
    expect(created.body).toMatchObject({
      eatenAt: '2026-11-16T07:30:00.000Z', tz: 'Europe/Berlin', userDate: '2026-11-16', dayOverridden: false,
      mealSummary: 'Oats with berries', emoji: '🥣', calories: 412.5, protein: 14.2, carbs: 61.125, fat: 9,
      extendedNutrients: {}, formatVersion: 4, revision: 1, createdAt: '2026-11-16T12:00:00.000Z',
    })
    expect(created.headers['tributary-event']).toMatch(/^0:\d+:[0-9a-f-]{36}$/)
    const read = await send(app, { url: `/v1/meals/${created.body['id']}`, token: ann })
    expect(read.status).toBe(200)
    expect(read.body).toEqual(created.body)
  })
})
