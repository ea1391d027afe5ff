import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Check } from 'typebox/schema'
import { expect, test } from 'vitest'
import { asyncapi } from '../../producers/http/asyncapi.ts'
import { deviceChannels } from '../../producers/scales/device-channels.ts'
import { ENVELOPE } from '../../producers/scales/device-envelope.ts'
import { envelopeEvents, type Sender } from '../../producers/scales/device-events.ts'
import { AVRO_HEADER } from '../../producers/scales/device-payload.ts'

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'devices.md'), 'utf8')
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``, 'g'))].map(([, block = '']) => block)
const sender: Sender = {
  device: 'SCALE-0042',
  owner: { id: 'loc-001', epoch: 1 },
  actor: 'SCALE-0042',
  source: 'test',
  correlationId: null,
  received: 1_800_000_000_000,
}

test('the program accepts every example of docs/devices.md', () => {
  const examples = [...blocks('json'), ...[...page.matchAll(/-m '(\{.*\})'/g)].map(([, text = '']) => text)]
  expect(examples).toHaveLength(3)
  for (const example of examples)
    expect(envelopeEvents(JSON.parse(example), sender, 16).quarantined, example).toEqual([])
})

test('every example of docs/devices.md fits the schema of GET /asyncapi.json', () => {
  const { channels } = asyncapi({
    domains: [{ name: 'scales', topic: 'scales.events', channels: deviceChannels }],
    version: '1',
  }) as { channels: { deviceMessages: { messages: { envelope: { payload: object } } } } }
  const schema = channels.deviceMessages.messages.envelope.payload
  expect(Check(schema, JSON.parse(blocks('json')[0] ?? ''))).toBe(true)
  expect(Check(schema, { v: 1, boot: 'b1', events: [] })).toBe(false)
})

test('docs/devices.md shows the Avro schema of the messages, and the bytes before it', () => {
  expect(JSON.parse(blocks('avro')[0] ?? '')).toEqual(ENVELOPE)
  expect(page).toContain(AVRO_HEADER.toString('hex'))
})
