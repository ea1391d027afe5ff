import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectAsync, type MqttClient } from 'mqtt'
import { openBars, type Device } from './bar.ts'
import { readingAt } from './readings.ts'
import { startBareBroker, startTributary, type Server } from './servers.ts'
import { median, printTable, quantile, ratio } from './table.ts'

const DEVICES = 200
const SECONDS = 5
const ROUNDS = 2
const AT_ONCE = 20

interface Measured {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
}

interface Talking {
  readonly device: Device
  readonly client: MqttClient
  seq: number
}

const connectAll = async ({ mqtt = '' }: Server, devices: readonly Device[]): Promise<readonly Talking[]> => {
  const talking: Talking[] = []
  for (let first = 0; first < devices.length; first += AT_ONCE) {
    const some = devices.slice(first, first + AT_ONCE)
    talking.push(...(await Promise.all(some.map(async (device) => ({ device, seq: 0, client: await connectAsync(mqtt, { clientId: device.id, username: device.id, password: device.password, reconnectPeriod: 0 }) })))))
  }
  return talking
}

/** Every device says its next reading as soon as the one before is acknowledged. */
const load = async (talking: readonly Talking[]): Promise<Measured> => {
  const began = performance.now()
  const times: number[] = []
  const talk = async (one: Talking) => {
    while (performance.now() - began < SECONDS * 1000) {
      const said = performance.now()
      const payload = JSON.stringify({ v: 1, boot: 'b1', events: [{ seq: (one.seq += 1), type: 'reading', age_ms: 0, data: readingAt(one.seq) }] })
      await one.client.publishAsync(`scale-sense/${one.device.loc}/${one.device.id}/reading`, payload, { qos: 1 })
      times.push(performance.now() - said)
    }
  }
  await Promise.all(talking.map(talk))
  return { perSecond: times.length / ((performance.now() - began) / 1000), p50: quantile(times, 0.5), p99: quantile(times, 0.99) }
}

/** QoS 1 publish → PUBACK, which says that the log has it, beside the same broker with a subscriber that does nothing; interleaved, warmed up once. */
export const mqttBench = async (): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-bench-'))
  const env = { TRIBUTARY_DATA: folder }
  const [server, bare] = [await startTributary(env), await startBareBroker()]
  try {
    process.stderr.write(`  opening ${DEVICES} taps …\n`)
    const { devices } = await openBars(server, env, DEVICES)
    const [ours, theirs] = [await connectAll(server, devices), await connectAll(bare, devices)]
    const rounds: { readonly ours: Measured; readonly bare: Measured }[] = []
    for (let round = 0; round <= ROUNDS; round += 1) {
      const measured = { bare: await load(theirs), ours: await load(ours) }
      process.stderr.write(`  round ${round}: bare ${Math.round(measured.bare.perSecond)}/s, ours ${Math.round(measured.ours.perSecond)}/s\n`)
      if (round > 0) rounds.push(measured)
    }
    await Promise.all([...ours, ...theirs].map(({ client }) => client.endAsync(true)))
    report(rounds)
  } finally {
    await server.stop()
    await bare.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const report = (rounds: readonly { readonly ours: Measured; readonly bare: Measured }[]) => {
  const row = (name: string, pick: 'ours' | 'bare') => {
    const of = (value: (one: Measured) => number) => median(rounds.map((round) => value(round[pick])))
    return [name, Math.round(of((one) => one.perSecond)), of((one) => one.p50).toFixed(1), of((one) => one.p99).toFixed(1)]
  }
  printTable(`mqtt: QoS 1 publish → PUBACK, ${DEVICES} devices, embedded (median of ${ROUNDS} interleaved rounds of ${SECONDS} s)`, [
    ['', 'messages/s', 'p50 ms', 'p99 ms'],
    row('durable in the log, folded meanwhile', 'ours'),
    row('the same broker, a subscriber that does nothing', 'bare'),
    ['ratio', ratio(median(rounds.map(({ ours, bare }) => ours.perSecond / bare.perSecond))), '', ''],
  ])
}
