import { createConnection } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Socket } from 'node:net'
import { counted } from '../../schemas/counted.ts'
import { isFault, messageOf } from '../../schemas/fault.ts'
import { checkAllSchemas } from './schemas.ts'
import type { Config } from '../../host/config/config.ts'
import { configOf } from '../context.ts'
import type { Context } from '../context.ts'
import { connectToServer, isDataFolder, prepareFolder } from '../../host/folder/folder.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'
import { callOperation } from '../../host/ipc/call-operation.ts'
import { isEmbedded } from '../../host/wiring/runtime.ts'
import { removesEvents, completeStatusRows, trimmedTexts, unfollowed } from '../../host/serving/domain-status.ts'

interface Finding {
  readonly check: string
  readonly ok: boolean
  readonly detail: string
}

const ANSWER_MS = 3_000

/** Runs every check, even if others fail. */
export const doctor = async (context: Context, { json }: { json?: true }): Promise<Exit> => {
  const findings: Finding[] = []
  const check = async (name: string, run: () => Promise<string> | string): Promise<void> => {
    const finding = await findingOf(name, run)
    findings.push(finding)
    if (json === true) context.output.line(JSON.stringify(finding))
    else context.output.line(`${finding.ok ? 'ok  ' : context.output.red('BAD ')} ${name}: ${finding.detail}`)
  }
  await check('node', nodeVersion)
  await check('schemas', () => schemas(context))
  let config: Config | undefined
  await check('configuration', () => {
    config = configOf(context)
    return 'valid; see: tributary start --print-config'
  })
  if (config !== undefined) await checkServices(context, config, check)
  return findings.every(({ ok }) => ok) ? EXIT.fine : EXIT.failed
}

type Check = (name: string, run: () => Promise<string> | string) => Promise<void>

const checkServices = async (context: Context, config: Config, check: Check): Promise<void> => {
  const { kafka, dynamodb, mqtt, oidc, edges, data } = config
  if (isEmbedded(config)) await check('data folder', () => folder(data))
  for (const broker of kafka?.brokers ?? [])
    await check(`Kafka ${broker}`, () => checkReachable(broker, kafka?.ssl === true))
  if (dynamodb?.endpoint !== undefined) await check('DynamoDB', () => endpoint(dynamodb.endpoint ?? ''))
  if (mqtt !== 'off' && 'join' in mqtt) await check('MQTT', () => checkUrlReachable(new URL(mqtt.join.url)))
  if (oidc !== undefined)
    await check('OIDC issuer', async () => (await import('../../producers/access/oidc.ts')).checkIssuer(oidc.issuer))
  for (const { checks } of Object.values(edges)) for (const each of checks) await check(each.name, () => each.check())
  if (!isEmbedded(config) || isDataFolder(data)) await check('pipeline', () => pipeline(context))
}

const findingOf = async (check: string, run: () => Promise<string> | string): Promise<Finding> => {
  try {
    return { check, ok: true, detail: await run() }
  } catch (error) {
    const message = messageOf(error)
    return { check, ok: false, detail: isFault(error) ? `${error.code}: ${message}` : message }
  }
}

const nodeVersion = (): string => {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major < 20 || (major === 20 && minor < 19))
    throw new Error(`Node ${process.versions.node} is too old; install 20.19 or later.`)
  return process.versions.node
}

const schemas = (context: Context): string => {
  const { ok, schemas: known, problems } = checkAllSchemas(context)
  if (!ok) throw new Error(`${counted(problems.length, 'problem')}; see: tributary schemas check`)
  return `${known.length}, each can read the events of all its earlier versions`
}

const folder = async (data: string): Promise<string> => {
  if (!isDataFolder(data)) return `${data} does not exist yet; the first start creates it`
  prepareFolder(data)
  const socket = await connectToServer(data)
  socket?.destroy()
  return `${data}, ${socket === undefined ? 'free' : 'used by a running server'}`
}

const checkUrlReachable = ({ protocol, host, port }: URL): Promise<string> => {
  const tls = protocol === 'mqtts:'
  return checkReachable(port === '' ? `${host}:${tls ? 8883 : 1883}` : host, tls)
}

const checkReachable = (broker: string, tls: boolean): Promise<string> => {
  const at = broker.lastIndexOf(':')
  const target = { host: broker.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(broker.slice(at + 1)) }
  return new Promise((resolve, reject) => {
    const socket: Socket = tls ? connectTls({ ...target, servername: target.host }) : createConnection(target)
    const settle = (outcome: () => void): void => {
      socket.destroy()
      outcome()
    }
    socket.setTimeout(ANSWER_MS, () =>
      settle(() => reject(new Error(`no answer within ${ANSWER_MS / 1000} s; check the address and the network`))),
    )
    socket.once(tls ? 'secureConnect' : 'connect', () => settle(() => resolve('reachable')))
    socket.once('error', (error) =>
      settle(() => reject(new Error(`${error.message}; start the broker, or correct TRIBUTARY_KAFKA`))),
    )
  })
}

const endpoint = async (url: string): Promise<string> => {
  try {
    const { status } = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) })
    return `${url} answers (HTTP ${status})`
  } catch (error) {
    throw new Error(`${url} does not answer; start it, or correct TRIBUTARY_DYNAMODB`, { cause: error })
  }
}

const unlessNotStarted = (error: unknown): undefined => {
  if (!isFault(error, 'domain-unknown')) throw error
}

const pipeline = async (context: Context): Promise<string> => {
  const statuses = await callOperation(context, { name: 'status', args: {} })
    .then(completeStatusRows)
    .catch(unlessNotStarted)
  if (statuses === undefined) return 'not started yet; the first start creates tables and topics'
  const parked = statuses.reduce((sum, each) => sum + each.parked, 0)
  const problems = [
    ...trimmedTexts(statuses),
    ...statuses
      .filter(({ retention }) => retention.length > 0)
      .map(({ topic, retention }) => removesEvents(topic, retention)),
    ...statuses
      .filter(({ followed }) => followed === false)
      .map(({ domain, generation }) => unfollowed(domain, generation)),
    ...(parked > 0 ? [`${counted(parked, 'key')} ${parked === 1 ? 'is' : 'are'} parked; see: tributary parked`] : []),
  ]
  if (problems.length > 0) throw new Error(problems.join('; '))
  return statuses
    .map(({ domain, generation, lagEvents }) => `${domain} g${generation}, ${counted(lagEvents, 'event')} behind`)
    .join('; ')
}
