import { open } from 'node:fs/promises'
import fastify from 'fastify'
import { newExpenseSchema } from '../producers/expenses/expense-bodies.ts'
import { newMealSchema } from '../producers/meals/meal-bodies.ts'

/**
 * An edge that does only the necessary work: the same validation as the program, and a flush of the raw body to a file. Requests that arrive during
 * a flush share the next flush.
 */
const [path = ''] = process.argv.slice(2)
const file = await open(path, 'a')
let waiting: { readonly body: Buffer; readonly done: () => void; readonly failed: (error: unknown) => void }[] = []
let flushing = false

const flush = async () => {
  flushing = true
  while (waiting.length > 0) {
    const batch = waiting
    waiting = []
    try {
      await file.appendFile(Buffer.concat(batch.map(({ body }) => body)))
      await file.datasync()
      for (const { done } of batch) done()
    } catch (error) {
      for (const { failed } of batch) failed(error)
    }
  }
  flushing = false
}
const append = (body: Buffer) =>
  new Promise<void>((done, failed) => {
    waiting.push({ body, done, failed })
    if (!flushing) void flush()
  })

const app = fastify({
  ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, allowUnionTypes: true } },
})
app.removeAllContentTypeParsers()
const raw = new WeakMap<object, Buffer>()
app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
  raw.set(request, body as Buffer)
  done(null, JSON.parse(body.toString()))
})
/** The program reads the body of a webhook of Strava as text, and checks the members that it uses. */
const webhookSchema = {
  type: 'object',
  required: ['object_type', 'object_id', 'aspect_type', 'owner_id', 'event_time'],
}
for (const [url, body] of [
  ['/v1/meals', newMealSchema],
  ['/api/groups/:groupId/expenses', newExpenseSchema],
  ['/webhooks/strava/:secret', webhookSchema],
] as const) {
  app.post(url, { schema: { body } }, async (request, reply) => {
    await append(raw.get(request) as Buffer)
    return reply.code(201).send(request.body)
  })
}
const address = await app.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`${address}\n`)
