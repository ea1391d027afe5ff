import { createConnection } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Socket } from 'node:net'
import { counted } from '../../schemas/counted.ts'
import { isFault, messageOf } from '../../schemas/fault.ts'
import { checkSchemas } from '../../schemas/compatibility.ts'
import type { Config } from '../config.ts'
import { configOf } from '../context.ts'
import type { Context } from '../context.ts'
import { callHolder, isDataFolder, prepareFolder } from '../folder.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'
import { ask } from '../reach.ts'
import { isEmbedded } from '../runtime.ts'
import { removesEvents, statusesIn, trimmedTexts, unfollowed } from '../standing.ts'

interface Finding {
  readonly check: string
  readonly ok: boolean
  readonly detail: string
}

const REACH_MS = 3_000

/** Every check runs, whatever the others found. */
export const doctor = async (context: Context, { json }: { json?: true }): Promise<Exit> => {
  const findings: Finding[] = []
  const check = async (name: string, look: () => Promise<string> | string): Promise<void> => {
    const finding = await found(name, look)
    findings.push(finding)
    if (json === true) context.output.line(JSON.stringify(finding))
    else context.output.line(`${finding.ok ? 'ok  ' : context.output.red('BAD ')} ${name}: ${finding.detail}`)
  }
  await check('node', nodeVersion)
  await check('schemas', schemas)
  let config: Config | undefined
  await check('configuration', () => {
    config = configOf(context)
    return 'valid; see: tributary start --print-config'
  })
  if (config !== undefined) await checkServices(context, config, check)
  return findings.every(({ ok }) => ok) ? EXIT.fine : EXIT.failed
}

type Check = (name: string, look: () => Promise<string> | string) => Promise<void>

const checkServices = async (context: Context, config: Config, check: Check): Promise<void> => {
  const { kafka, dynamodb, mqtt, telegram, ton, data } = config
  if (isEmbedded(config)) await check('data folder', () => folder(data))
  for (const broker of kafka?.brokers ?? []) await check(`Kafka ${broker}`, () => reach(broker, kafka?.ssl === true))
  if (dynamodb?.endpoint !== undefined) await check('DynamoDB', () => endpoint(dynamodb.endpoint ?? ''))
  if (mqtt !== 'off' && 'join' in mqtt) await check('MQTT', () => reachUrl(new URL(mqtt.join.url)))
  if (Object.keys(telegram).length > 0) await check('Telegram', () => telegramTold(telegram))
  if (ton !== undefined) await check('TON', () => chain(ton))
  if (!isEmbedded(config) || isDataFolder(data)) await check('pipeline', () => pipeline(context))
}

const found = async (check: string, look: () => Promise<string> | string): Promise<Finding> => {
  try {
    return { check, ok: true, detail: await look() }
  } catch (error) {
    const message = messageOf(error)
    return { check, ok: false, detail: isFault(error) ? `${error.code}: ${message}` : message }
  }
}

const nodeVersion = (): string => {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major < 20 || (major === 20 && minor < 19)) throw new Error(`Node ${process.versions.node} is too old; install 20.19 or later.`)
  return process.versions.node
}

const schemas = (): string => {
  const { ok, schemas: known, problems } = checkSchemas()
  if (!ok) throw new Error(`${counted(problems.length, 'problem')}; see: tributary schemas check`)
  return `${known.length}, each reads what all its versions wrote`
}

const folder = async (data: string): Promise<string> => {
  if (!isDataFolder(data)) return `${data} is none yet; the first start makes it`
  prepareFolder(data)
  const holder = await callHolder(data)
  holder?.destroy()
  return `${data}, ${holder === undefined ? 'free' : 'held by a running server'}`
}

const reachUrl = ({ protocol, host, port }: URL): Promise<string> => {
  const tls = protocol === 'mqtts:'
  return reach(port === '' ? `${host}:${tls ? 8883 : 1883}` : host, tls)
}

const reach = (broker: string, tls: boolean): Promise<string> => {
  const at = broker.lastIndexOf(':')
  const target = { host: broker.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(broker.slice(at + 1)) }
  return new Promise((resolve, reject) => {
    const socket: Socket = tls ? connectTls({ ...target, servername: target.host }) : createConnection(target)
    const settle = (outcome: () => void): void => {
      socket.destroy()
      outcome()
    }
    socket.setTimeout(REACH_MS, () => settle(() => reject(new Error(`no answer within ${REACH_MS / 1000} s; is the address right, and does the network let it through?`))))
    socket.once(tls ? 'secureConnect' : 'connect', () => settle(() => resolve('reachable')))
    socket.once('error', (error) => settle(() => reject(new Error(`${error.message}; start the broker, or mend TRIBUTARY_KAFKA`))))
  })
}

const endpoint = async (url: string): Promise<string> => {
  try {
    const { status } = await fetch(url, { signal: AbortSignal.timeout(REACH_MS) })
    return `${url} answers (HTTP ${status})`
  } catch (error) {
    throw new Error(`${url} does not answer; start it, or mend TRIBUTARY_DYNAMODB`, { cause: error })
  }
}

/** Telegram itself is not asked: it calls us. */
const telegramTold = ({ botToken, webhookSecret }: Config['telegram']): string => {
  const miniApp = botToken === undefined ? 'initData is refused (TRIBUTARY_TELEGRAM_BOT_TOKEN is not set)' : `initData of the bot ${botToken.slice(0, botToken.indexOf(':'))} is taken`
  return `${miniApp}; ${webhookSecret === undefined ? 'updates are refused (TRIBUTARY_TELEGRAM_WEBHOOK_SECRET is not set)' : 'updates are taken at /webhooks/telegram'}`
}

const chain = async ({ api, key }: NonNullable<Config['ton']>): Promise<string> => {
  const headers = key === undefined ? {} : { 'x-api-key': key }
  const response = await fetch(`${api}/api/v3/masterchainInfo`, { headers, signal: AbortSignal.timeout(REACH_MS) }).catch((error: unknown) => {
    throw new Error(`${api} does not answer; mend TRIBUTARY_TON_API`, { cause: error })
  })
  if (!response.ok) throw new Error(`${api} answers HTTP ${response.status}; mend TRIBUTARY_TON_API or TRIBUTARY_TON_API_KEY`)
  return `${api} answers`
}

const unlessNotStarted = (error: unknown): undefined => {
  if (!isFault(error, 'domain-unknown')) throw error
}

const pipeline = async (context: Context): Promise<string> => {
  const statuses = await ask(context, { name: 'status' }).then(statusesIn).catch(unlessNotStarted)
  if (statuses === undefined) return 'not started yet; the first start creates tables and topics'
  const parked = statuses.reduce((sum, each) => sum + each.parked, 0)
  const problems = [
    ...trimmedTexts(statuses),
    ...statuses.filter(({ retention }) => retention.length > 0).map(({ topic, retention }) => removesEvents(topic, retention)),
    ...statuses.filter(({ followed }) => followed === false).map(({ domain, generation }) => unfollowed(domain, generation)),
    ...(parked > 0 ? [`${counted(parked, 'key')} ${parked === 1 ? 'is' : 'are'} parked; see: tributary parked`] : []),
  ]
  if (problems.length > 0) throw new Error(problems.join('; '))
  return statuses.map(({ domain, generation, lagEvents }) => `${domain} g${generation}, ${counted(lagEvents, 'event')} behind`).join('; ')
}
