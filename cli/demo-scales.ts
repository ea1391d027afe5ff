import { connectAsync, type MqttClient } from 'mqtt'
import { barLife, BEERS, tapOf, type BarStep } from '../producers/simulate/scales.ts'
import { systemClock } from '../processors/adapters/system-clock.ts'
import { Fault } from '../schemas/fault.ts'
import type { Context } from './context.ts'
import { note, sending, tokenOf, type DemoOptions, type DemoPlace, type Tally } from './demo.ts'

const SCALES = 4

/** A bar whose scales speak MQTT and whose people use the HTTP edge. */
export const scalesDemo = async (context: Context, { seconds, rate, seed }: DemoOptions, { ask, url, mqtt, tally }: DemoPlace): Promise<void> => {
  if (mqtt === null) throw new Fault('no-server', 'The running server has no broker of its own for devices. Set TRIBUTARY_MQTT to an address, and start it again.')
  const loc = `demo-bar-${seed}`
  const devices = Array.from({ length: SCALES }, (_, index) => `demo-${seed}-scale-${index + 1}`)
  const say = speaker({ url, token: await tokenOf(ask, `demo-${seed}`, 'scales'), tally })
  const minutes = Math.ceil((seconds * rate) / devices.length)
  const secrets = await openBar(say, { loc, devices, since: systemClock.now() - (minutes + 1) * 60_000 })
  const clients = new Map<string, MqttClient>()
  for (const device of devices) clients.set(device, await connected(mqtt, { loc, device, token: secrets.get(device) ?? '' }))
  try {
    tally.look = `look at it: T=$(npx tributary token create --user demo-${seed} --domain scales); curl -s -H "Authorization: Bearer $T" ${url}/v1/locations/${loc}/taps`
    await play(context, { loc, devices, minutes, seed, seconds, rate, tally, say, clients })
  } finally {
    await Promise.all([...clients.values()].map((client) => client.endAsync()))
  }
}

type Say = (method: 'POST' | 'PUT', path: string, body?: unknown) => Promise<Readonly<Record<string, unknown>>>

const speaker = ({ url, token, tally }: { url: string; token: string; tally: Tally }): Say => {
  const send = sending({ url, tally })
  return async (method, path, body) => {
    const { status, body: said } = await send({ method, path, token, body })
    // What is there already is refused, and fine.
    if (status >= 400 && status !== 409) throw new Fault('demo-refused', `${method} ${path} was answered ${status}: ${String(said['detail'])} Is the bar somebody else's? Choose another --seed.`)
    return said
  }
}

/** The beers, the scales under their taps, and a secret for each scale. What is there already stays as it is. */
const openBar = async (say: Say, { loc, devices, since }: { loc: string; devices: readonly string[]; since: number }): Promise<ReadonlyMap<string, string>> => {
  const secrets = new Map<string, string>()
  for (const beer of BEERS) await say('POST', '/v1/beers', beer)
  for (const [index, device] of devices.entries()) {
    await say('POST', `/v1/locations/${loc}/devices`, { device_id: device })
    await say('PUT', `/v1/locations/${loc}/taps/${tapOf(index)}/device`, { device_id: device, since: new Date(since).toISOString() })
    const { token } = await say('POST', `/v1/locations/${loc}/devices/${device}/tokens`)
    secrets.set(device, String(token))
  }
  return secrets
}

interface Spoken {
  readonly loc: string
  readonly device: string
  readonly token: string
}

const topicOf = (loc: string, device: string, type: string): string => `scale-sense/${loc}/${device}/${type}`

const connected = (mqtt: string, { loc, device, token }: Spoken): Promise<MqttClient> =>
  connectAsync(mqtt, {
    clientId: device,
    username: device,
    password: token,
    protocolVersion: 4,
    will: { topic: topicOf(loc, device, 'status'), payload: Buffer.from('{"online":false}'), qos: 1, retain: true },
  })

interface Playing extends Omit<DemoOptions, 'domain' | 'json'> {
  readonly loc: string
  readonly devices: readonly string[]
  /** Of the bar's life. */
  readonly minutes: number
  readonly tally: Tally
  readonly say: Say
  readonly clients: ReadonlyMap<string, MqttClient>
}

/** As many minutes of the bar's life as there are readings to send, the last of them now. */
const play = async ({ output, signal }: Context, playing: Playing): Promise<void> => {
  const { devices, minutes, seed, rate } = playing
  const began = systemClock.now()
  let sent = 0
  for (const step of barLife({ seed: seed + Math.floor(began / 1000), devices, now: began, minutes })) {
    if (signal.aborted) return
    await systemClock.sleep(began + (sent * 1000) / rate - systemClock.now(), signal)
    await take(step, playing)
    sent += step.kind === 'message' ? 1 : 0
    output.progress(`${sent} messages of ${devices.length} scales, ${minutes} minutes of a bar`)
  }
}

const take = async (step: BarStep, { loc, tally, say, clients }: Playing): Promise<void> => {
  if (step.kind === 'keg') return void (await say('POST', `/v1/locations/${loc}/taps/${step.tap}/keg`, step.body))
  const client = clients.get(step.device)
  const [type, body] = step.kind === 'status' ? ['status', step.body] : ['reading', step.messageAt(systemClock.now())]
  const began = performance.now()
  await client?.publishAsync(topicOf(loc, step.device, type), JSON.stringify(body), { qos: 1, retain: type === 'status' })
  note(tally, ACKNOWLEDGED, began)
}

/** What a PUBACK counts as, beside the answers of the edge. */
const ACKNOWLEDGED = 200
