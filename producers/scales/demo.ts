import { connectAsync, type MqttClient } from 'mqtt'
import { TOPIC_ROOT } from './device-envelope.ts'
import { barTraffic, BEERS, tapOf, type BarStep } from './demo-traffic.ts'
import { Fault } from '../../schemas/fault.ts'
import { countAnswer, createSender, type Demo, type DemoOptions, type DemoTarget, type Tally } from '../demo/demo.ts'

const SCALES = 4

/** Simulates a bar: its scales send messages over MQTT, and its staff uses the HTTP edge. */
export const scalesDemo: Demo = async ({ seconds, rate, seed }, target) => {
  const { url, mqtt, tally, calledAs, clock, createToken } = target
  if (mqtt === null)
    throw new Fault(
      'no-server',
      'The running server has no built-in broker for devices. Set TRIBUTARY_MQTT to an address, and start the server again.',
    )
  const loc = `demo-bar-${seed}`
  const devices = Array.from({ length: SCALES }, (_, index) => `demo-${seed}-scale-${index + 1}`)
  const send = createSend({ url, token: await createToken(`demo-${seed}`), tally })
  const minutes = Math.ceil((seconds * rate) / devices.length)
  const secrets = await openBar(send, { loc, devices, since: clock.now() - (minutes + 1) * 60_000 })
  const clients = new Map<string, MqttClient>()
  for (const device of devices)
    clients.set(device, await connected(mqtt, { loc, device, token: secrets.get(device) ?? '' }))
  try {
    tally.hint = `see a result: T=$(${calledAs} token create --user demo-${seed} --domain scales); curl -s -H "Authorization: Bearer $T" ${url}/v1/locations/${loc}/taps`
    await play(target, { loc, devices, minutes, seed, seconds, rate, send, clients })
  } finally {
    await Promise.all([...clients.values()].map((client) => client.endAsync()))
  }
}

type Send = (method: 'POST' | 'PUT', path: string, body?: unknown) => Promise<Readonly<Record<string, unknown>>>

const createSend = ({ url, token, tally }: { url: string; token: string; tally: Tally }): Send => {
  const request = createSender({ url, tally })
  return async (method, path, body) => {
    const { status, body: answer } = await request({ method, path, token, body })
    // 409 is not a failure: the thing exists already.
    if (status >= 400 && status !== 409)
      throw new Fault(
        'demo-refused',
        `The answer to ${method} ${path} was ${status}: ${String(answer['detail'])} If the bar belongs to somebody else, choose another --seed.`,
      )
    return answer
  }
}

/** Creates the beers, the taps and their scales. Things that exist stay as they are. Returns a token for each scale. */
const openBar = async (
  send: Send,
  { loc, devices, since }: { loc: string; devices: readonly string[]; since: number },
): Promise<ReadonlyMap<string, string>> => {
  const secrets = new Map<string, string>()
  for (const beer of BEERS) await send('POST', '/v1/beers', beer)
  for (const [index, device] of devices.entries()) {
    await send('POST', `/v1/locations/${loc}/devices`, { device_id: device })
    await send('PUT', `/v1/locations/${loc}/taps/${tapOf(index)}/device`, {
      device_id: device,
      since: new Date(since).toISOString(),
    })
    const { token } = await send('POST', `/v1/locations/${loc}/devices/${device}/tokens`)
    secrets.set(device, String(token))
  }
  return secrets
}

interface DeviceLogin {
  readonly loc: string
  readonly device: string
  readonly token: string
}

const topicOf = (loc: string, device: string, type: string): string => `${TOPIC_ROOT}/${loc}/${device}/${type}`

const connected = (mqtt: string, { loc, device, token }: DeviceLogin): Promise<MqttClient> =>
  connectAsync(mqtt, {
    clientId: device,
    username: device,
    password: token,
    protocolVersion: 4,
    will: { topic: topicOf(loc, device, 'status'), payload: Buffer.from('{"online":false}'), qos: 1, retain: true },
  })

interface DemoBar extends Omit<DemoOptions, 'domain' | 'json'> {
  readonly loc: string
  readonly devices: readonly string[]
  /** Minutes of simulated time. */
  readonly minutes: number
  readonly send: Send
  readonly clients: ReadonlyMap<string, MqttClient>
}

/** Sends the traffic of the bar's last minutes, one reading per device and minute. */
const play = async (target: DemoTarget, bar: DemoBar): Promise<void> => {
  const { devices, minutes, seed, rate } = bar
  const { clock, signal, progress } = target
  const began = clock.now()
  let sent = 0
  for (const step of barTraffic({ seed: seed + Math.floor(began / 1000), devices, now: began, minutes })) {
    if (signal.aborted) return
    await clock.sleep(began + (sent * 1000) / rate - clock.now(), signal)
    await playStep(step, bar, target)
    sent += step.kind === 'message' ? 1 : 0
    progress(`${sent} messages of ${devices.length} scales, ${minutes} minutes of a bar`)
  }
}

const playStep = async (
  step: BarStep,
  { loc, send, clients }: DemoBar,
  { clock, tally }: DemoTarget,
): Promise<void> => {
  if (step.kind === 'keg') return void (await send('POST', `/v1/locations/${loc}/taps/${step.tap}/keg`, step.body))
  const client = clients.get(step.device)
  const [type, body] = step.kind === 'status' ? ['status', step.body] : ['reading', step.messageAt(clock.now())]
  const began = performance.now()
  await client?.publishAsync(topicOf(loc, step.device, type), JSON.stringify(body), {
    qos: 1,
    retain: type === 'status',
  })
  countAnswer(tally, ACKNOWLEDGED, began)
}

/** The status under which the tally counts a PUBACK. */
const ACKNOWLEDGED = 200
