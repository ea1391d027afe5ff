import WebSocket from 'ws'
import { asking, openBars, type Device } from './bar.ts'
import { bareStream } from './bare-stream.ts'
import { inFolder } from './folder.ts'
import { locOf, tapOf } from './readings.ts'
import { startTributary, type Server } from './servers.ts'
import { startServices } from './services.ts'
import { printTable, quantile } from './table.ts'

const TAPS = 10
const SECONDS = 6
const MANY = 1_000
const AT_ONCE = 50

interface Watching {
  readonly server: Server
  readonly token: string
}

interface Change {
  readonly key: string
  readonly item: { readonly weight_lbs?: number } | null
}

/** Weights rise with every reading of a tap, so that what is seen tells which one it was. */
const weightOf = (nth: number): number => Math.round((40 + nth / 1000) * 1000) / 1000

const watch = async ({ server, token }: Watching, heard: (changes: readonly Change[]) => void): Promise<WebSocket> => {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/v1/live?loc=${locOf(0)}`, ['tributary.v1', `bearer.${token}`])
  await new Promise<void>((resolve, reject) => {
    socket.once('message', () => resolve())
    socket.once('error', reject)
  })
  socket.on('message', (data: Buffer) => heard((JSON.parse(data.toString()) as { readonly changes?: readonly Change[] }).changes ?? []))
  return socket
}

interface Load {
  readonly perSecond: number
  readonly clients: number
}

/** From the answer that accepts a reading until each client saw it, or one after it of the same tap; what was seen before the answer is not counted. */
const measure = async (watching: Watching, devices: readonly Device[], { perSecond, clients }: Load): Promise<readonly number[]> => {
  const accepted = new Map<string, { readonly weight: number; readonly at: number }[]>()
  const delays: number[] = []
  const sockets: WebSocket[] = []
  const client = () => {
    const seen = new Map<string, number>()
    return (changes: readonly Change[]) => {
      const now = performance.now()
      for (const { key, item } of changes) {
        if (item?.weight_lbs === undefined || !key.endsWith('#STATE')) continue
        const last = seen.get(key) ?? 0
        for (const { weight, at } of accepted.get(key) ?? []) if (weight > last && weight <= item.weight_lbs) delays.push(now - at)
        seen.set(key, Math.max(last, item.weight_lbs))
      }
    }
  }
  for (let first = 0; first < clients; first += AT_ONCE) sockets.push(...(await Promise.all(Array.from({ length: Math.min(AT_ONCE, clients - first) }, () => watch(watching, client())))))
  await say(watching, devices, { perSecond, accepted })
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  for (const socket of sockets) socket.terminate()
  return delays
}

let said = 0

/** On time, whether or not the answers are: each reading has its instant. */
const say = async ({ server, token }: Watching, devices: readonly Device[], { perSecond, accepted }: { perSecond: number; accepted: Map<string, { weight: number; at: number }[]> }): Promise<void> => {
  const ask = asking(server.url, token)
  const began = performance.now()
  const sending: Promise<void>[] = []
  for (let nth = 0; nth < perSecond * SECONDS; nth += 1) {
    const wait = began + (nth * 1000) / perSecond - performance.now()
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
    const index = nth % TAPS
    const [weight, seq] = [weightOf((said += 1)), said]
    const post = async () => {
      await ask('POST', `/v1/devices/${devices[index]?.id ?? ''}/readings`, { v: 1, boot: 'b1', events: [{ seq, type: 'reading', data: { weight_lbs: weight } }] })
      const key = `TAP#${tapOf(index)}#STATE`
      accepted.set(key, [...(accepted.get(key) ?? []).slice(-50), { weight, at: performance.now() }])
    }
    sending.push(post())
  }
  await Promise.all(sending)
}

const run = (name: string, env: Readonly<Record<string, string>>, loads: readonly Load[]): Promise<readonly (readonly (string | number)[])[]> =>
  inFolder(async (folder) => {
    const settings = { ...env, TRIBUTARY_DATA: folder }
    const server = await startTributary(settings)
    try {
      const { token, devices } = await openBars(server, settings, TAPS)
      const rows: (string | number)[][] = []
      for (const load of loads) {
        const delays = await measure({ server, token }, devices, load)
        rows.push([name, load.clients, load.perSecond, delays.length, quantile(delays, 0.5).toFixed(1), quantile(delays, 0.99).toFixed(1)])
      }
      return rows
    } finally {
      await server.stop()
    }
  })

/** Beside what the same DynamoDB takes by itself, put → seen, with nobody else about. */
const onServices = async (one: Load): Promise<readonly (readonly (string | number)[])[]> => {
  const services = await startServices()
  try {
    const bare = await bareStream(services.dynamodb, { perSecond: one.perSecond, seconds: SECONDS, items: TAPS })
    const ours = await run('Kafka + DynamoDB Streams', { TRIBUTARY_KAFKA: services.kafka.join(','), TRIBUTARY_DYNAMODB: services.dynamodb }, [one])
    return [...ours, ['DynamoDB Streams alone: a put answered → seen', 1, one.perSecond, bare.length, quantile(bare, 0.5).toFixed(1), quantile(bare, 0.99).toFixed(1)]]
  } finally {
    await services.stop()
  }
}

/** How long after a reading is accepted a WebSocket client sees it. `--embedded` leaves out the services. */
export const liveBench = async (rest: readonly string[] = []): Promise<void> => {
  const one = { perSecond: 100, clients: 1 }
  const rows = [...(await run('embedded', {}, [one, { perSecond: 10, clients: MANY }]))]
  if (!rest.includes('--embedded')) {
    rows.push(...(await onServices(one)))
  }
  printTable(`live: a reading accepted → seen, ${TAPS} taps of one location, ${SECONDS} s`, [['', 'clients', 'readings/s', 'seen', 'p50 ms', 'p99 ms'], ...rows])
}
