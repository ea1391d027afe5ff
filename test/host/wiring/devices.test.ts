import { createServer, type AddressInfo } from 'node:net'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { readConfig, type Config } from '../../../host/config/config.ts'
import { openDevices } from '../../../host/wiring/devices.ts'
import { createMetrics } from '../../../host/serving/metrics.ts'
import { scalesEdge } from '../../../producers/scales/edge.ts'
import { systemClock } from '../../../processors/adapters/system-clock.ts'
import { connected, deviceAt, envelope, openBar } from '../../producers/mqtt/bar.ts'

const taken = async (): Promise<number> => {
  const server = createServer()
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

const open = async (mqtt: Config['mqtt']) => {
  const bar = openBar()
  const metrics = createMetrics(Date.now, { log: 'embedded', items: 'embedded', roles: 'edge' })
  const devices = await openDevices(
    { config: { ...readConfig({}), mqtt }, clock: systemClock, metrics },
    {
      domains: [{ ...scalesEdge, topic: 'scales.events', commands: bar.commands, serving: bar.serving }],
      logger: pino({ level: 'silent' }),
    },
  )
  onTestFinished(() => devices?.stop())
  return { bar, devices, metrics }
}

test('if another program uses the default port, the rest starts, and this is reported', async () => {
  const port = await taken()
  const { devices } = await open({ listen: { host: '127.0.0.1', port }, isExplicit: false })
  expect(devices?.url).toBeUndefined()
  expect(devices?.description).toContain(
    `off: Another program listens on 127.0.0.1:${port}. Stop it, or select another address with TRIBUTARY_MQTT.`,
  )
})

test('a configured port that another program uses is a fault', async () => {
  const port = await taken()
  await expect(open({ listen: { host: '127.0.0.1', port }, isExplicit: true })).rejects.toMatchObject({
    code: 'port-in-use',
  })
})

test('two domains with the same first level of topics are a fault', async () => {
  const [bar, metrics] = [openBar(), createMetrics(Date.now, { log: 'embedded', items: 'embedded', roles: 'edge' })]
  const edge = { ...scalesEdge, topic: 'scales.events', commands: bar.commands, serving: bar.serving }
  await expect(
    openDevices(
      { config: readConfig({}), clock: systemClock, metrics },
      { domains: [edge, { ...edge, name: 'bars' }], logger: pino({ level: 'silent' }) },
    ),
  ).rejects.toMatchObject({
    code: 'bad-config',
    message: expect.stringContaining(
      'Both the domain scales and the domain bars have the first level of MQTT topics scale-sense.',
    ),
  })
})

test('if MQTT is off, nothing listens', async () => expect((await open('off')).devices).toBeUndefined())

test('messages of devices are counted: messages, events, quarantined events and refused devices', async () => {
  const { bar, devices, metrics } = await open({ listen: { host: '127.0.0.1', port: 0 }, isExplicit: true })
  bar.claim('SCALE-0042', 'loc-001')
  const client = deviceAt(devices?.url ?? '', 'SCALE-0042', { password: bar.token('SCALE-0042') })
  await connected(client)
  await client.publishAsync('scale-sense/loc-001/SCALE-0042/reading', envelope(1), { qos: 1 })
  await client.publishAsync('scale-sense/loc-001/SCALE-0042/reading', envelope(2, { level_pct: 140 }), { qos: 1 })
  await connected(deviceAt(devices?.url ?? '', 'SCALE-0043', { password: 'wrong' })).catch(() => {})
  const text = await metrics.text([])
  for (const line of [
    'tributary_mqtt_messages_total{kind="reading"} 2',
    'tributary_mqtt_connections 1',
    'tributary_mqtt_refused_total{reason="token"} 1',
    'tributary_device_events_quarantined_total{reason="range"} 1',
    'tributary_events_appended_total{domain="scales",source="mqtt",type="ReadingReported"} 1',
  ])
    expect(text).toContain(line)
})
