import { connectAsync, type MqttClient } from 'mqtt'
import { openBars, type Device } from './bar.ts'
import { compare, type Measured } from './compare.ts'
import { inFolder } from './folder.ts'
import { readingAt } from '../domains/scales/benchmark-events.ts'
import { startBare, startTributary, type Server } from './servers.ts'
import { quantile } from './table.ts'

const DEVICES = 200
const SECONDS = 5
const ROUNDS = 2
const PARALLEL = 20

interface ConnectedDevice {
  readonly device: Device
  readonly client: MqttClient
  seq: number
}

const connectAll = async ({ mqtt = '' }: Server, devices: readonly Device[]): Promise<readonly ConnectedDevice[]> => {
  const connected: ConnectedDevice[] = []
  for (let first = 0; first < devices.length; first += PARALLEL) {
    connected.push(
      ...(await Promise.all(
        devices
          .slice(first, first + PARALLEL)
          .map(async (device) => ({
            device,
            seq: 0,
            client: await connectAsync(mqtt, {
              clientId: device.id,
              username: device.id,
              password: device.password,
              reconnectPeriod: 0,
            }),
          })),
      )),
    )
  }
  return connected
}

/** Every device publishes its next reading as soon as the previous one is acknowledged. */
const load = async (connected: readonly ConnectedDevice[]): Promise<Measured> => {
  const began = performance.now()
  const times: number[] = []
  const publish = async (sender: ConnectedDevice) => {
    while (performance.now() - began < SECONDS * 1000) {
      const publishedAt = performance.now()
      const payload = JSON.stringify({
        v: 1,
        boot: 'b1',
        events: [{ seq: (sender.seq += 1), type: 'reading', age_ms: 0, data: readingAt(sender.seq) }],
      })
      await sender.client.publishAsync(`scale-sense/${sender.device.loc}/${sender.device.id}/reading`, payload, {
        qos: 1,
      })
      times.push(performance.now() - publishedAt)
    }
  }
  await Promise.all(connected.map(publish))
  return {
    perSecond: times.length / ((performance.now() - began) / 1000),
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    failed: 0,
  }
}

/**
 * Measures the time from a QoS 1 publish to its PUBACK, which the program sends when the log has stored the message. Compares it with the same
 * broker with a subscriber that does nothing.
 */
export const mqttBench = (): Promise<void> =>
  inFolder(async (folder) => {
    const env = { TRIBUTARY_DATA: folder }
    const [server, bare] = [await startTributary(env), await startBare('bare-broker')]
    try {
      process.stderr.write(`  opening ${DEVICES} taps …\n`)
      const { devices } = await openBars(server, env, DEVICES)
      const [ours, theirs] = [await connectAll(server, devices), await connectAll(bare, devices)]
      await compare({
        title: `mqtt: QoS 1 publish → PUBACK, ${DEVICES} devices, embedded (median of ${ROUNDS} interleaved rounds of ${SECONDS} s)`,
        rate: 'messages/s',
        rounds: ROUNDS,
        ours: { name: 'durable in the log, folded meanwhile', load: () => load(ours) },
        bare: { name: 'the same broker, a subscriber that does nothing', load: () => load(theirs) },
      })
      await Promise.all([...ours, ...theirs].map(({ client }) => client.endAsync(true)))
    } finally {
      await server.stop()
      await bare.stop()
    }
  })
