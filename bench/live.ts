import WebSocket from 'ws'
import { openBars, requesterFor, type Device } from './bar.ts'
import { bareStream } from './bare-stream.ts'
import { inFolder } from './folder.ts'
import { locOf, tapOf } from '../domains/scales/benchmark-events.ts'
import { startTributary, type Server } from './servers.ts'
import { startServices } from './services.ts'
import { printTable, quantile } from './table.ts'

const TAPS = 10
const SECONDS = 6
const MANY_CLIENTS = 1_000
const PARALLEL = 50

interface Session {
  readonly server: Server
  readonly token: string
}

interface Change {
  readonly key: string
  readonly item: { readonly weight_lbs?: number } | null
}

/** The weight of the nth reading. Weights rise with every reading of a tap, so a received weight identifies its reading. */
const weightOf = (nth: number): number => Math.round((40 + nth / 1000) * 1000) / 1000

const watch = async (
  { server, token }: Session,
  onChanges: (changes: readonly Change[]) => void,
): Promise<WebSocket> => {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/v1/live?loc=${locOf(0)}`, [
    'tributary.v1',
    `bearer.${token}`,
  ])
  await new Promise<void>((resolve, reject) => {
    socket.once('message', () => resolve())
    socket.once('error', reject)
  })
  socket.on('message', (data: Buffer) =>
    onChanges((JSON.parse(data.toString()) as { readonly changes?: readonly Change[] }).changes ?? []),
  )
  return socket
}

interface Load {
  readonly perSecond: number
  readonly clients: number
}

/**
 * Measures the time from the answer that accepts a reading until each client received it, or a later reading of the same tap. Readings that were
 * received before the answer are not counted.
 */
const measure = async (
  session: Session,
  devices: readonly Device[],
  { perSecond, clients }: Load,
): Promise<readonly number[]> => {
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
        for (const { weight, at } of accepted.get(key) ?? [])
          if (weight > last && weight <= item.weight_lbs) delays.push(now - at)
        seen.set(key, Math.max(last, item.weight_lbs))
      }
    }
  }
  for (let first = 0; first < clients; first += PARALLEL)
    sockets.push(
      ...(await Promise.all(
        Array.from({ length: Math.min(PARALLEL, clients - first) }, () => watch(session, client())),
      )),
    )
  await sendReadings(session, devices, { perSecond, accepted })
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  for (const socket of sockets) socket.terminate()
  return delays
}

let sent = 0

/** Sends readings at a fixed rate, without waiting for the answers. */
const sendReadings = async (
  { server, token }: Session,
  devices: readonly Device[],
  { perSecond, accepted }: { perSecond: number; accepted: Map<string, { weight: number; at: number }[]> },
): Promise<void> => {
  const request = requesterFor(server.url, token)
  const began = performance.now()
  const sending: Promise<void>[] = []
  for (let nth = 0; nth < perSecond * SECONDS; nth += 1) {
    const wait = began + (nth * 1000) / perSecond - performance.now()
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
    const index = nth % TAPS
    const [weight, seq] = [weightOf((sent += 1)), sent]
    const post = async () => {
      await request('POST', `/v1/devices/${devices[index]?.id ?? ''}/readings`, {
        v: 1,
        boot: 'b1',
        events: [{ seq, type: 'reading', data: { weight_lbs: weight } }],
      })
      const key = `TAP#${tapOf(index)}#STATE`
      accepted.set(key, [...(accepted.get(key) ?? []).slice(-50), { weight, at: performance.now() }])
    }
    sending.push(post())
  }
  await Promise.all(sending)
}

const run = (
  name: string,
  env: Readonly<Record<string, string>>,
  loads: readonly Load[],
): Promise<readonly (readonly (string | number)[])[]> =>
  inFolder(async (folder) => {
    const settings = { ...env, TRIBUTARY_DATA: folder }
    const server = await startTributary(settings)
    try {
      const { token, devices } = await openBars(server, settings, TAPS)
      const rows: (string | number)[][] = []
      for (const load of loads) {
        const delays = await measure({ server, token }, devices, load)
        rows.push([
          name,
          load.clients,
          load.perSecond,
          delays.length,
          quantile(delays, 0.5).toFixed(1),
          quantile(delays, 0.99).toFixed(1),
        ])
      }
      return rows
    } finally {
      await server.stop()
    }
  })

/** Measures the delays on Kafka and DynamoDB, and the delay of DynamoDB Streams alone, without the program. */
const onServices = async (load: Load): Promise<readonly (readonly (string | number)[])[]> => {
  const services = await startServices()
  try {
    const bare = await bareStream(services.dynamodb, { perSecond: load.perSecond, seconds: SECONDS, items: TAPS })
    const ours = await run(
      'Kafka + DynamoDB Streams',
      { TRIBUTARY_KAFKA: services.kafka.join(','), TRIBUTARY_DYNAMODB: services.dynamodb },
      [load],
    )
    return [
      ...ours,
      [
        'DynamoDB Streams alone: answer to a put → received',
        1,
        load.perSecond,
        bare.length,
        quantile(bare, 0.5).toFixed(1),
        quantile(bare, 0.99).toFixed(1),
      ],
    ]
  } finally {
    await services.stop()
  }
}

/** Measures the time from the acceptance of a reading until a WebSocket client receives it. `--embedded` omits the run on Kafka and DynamoDB. */
export const liveBench = async (rest: readonly string[] = []): Promise<void> => {
  const load = { perSecond: 100, clients: 1 }
  const rows = [...(await run('embedded', {}, [load, { perSecond: 10, clients: MANY_CLIENTS }]))]
  if (!rest.includes('--embedded')) {
    rows.push(...(await onServices(load)))
  }
  printTable(`live: a reading accepted → received, ${TAPS} taps of one location, ${SECONDS} s`, [
    ['', 'clients', 'readings/s', 'received', 'p50 ms', 'p99 ms'],
    ...rows,
  ])
}
