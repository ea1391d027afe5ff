import { systemClock } from '../../processors/adapters/system-clock.ts'
import { Fault } from '../../schemas/fault.ts'
import type { Config } from '../../host/config/config.ts'
import { configOf, firstDomain, type Context } from '../context.ts'
import type { DemoOptions, Tally } from '../../producers/demo/demo.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'
import { withOperations, isServerRunning } from '../../host/ipc/call-operation.ts'
import { isEmbedded } from '../../host/wiring/runtime.ts'

/** Sends traffic through the public edge, with tokens that this command creates. Any client could send the same requests. */
export const demo = async (context: Context, options: DemoOptions): Promise<Exit> => {
  const domain = options.domain ?? firstDomain(context)
  const load = context.domains.recordOf(domain).demo
  if (load === undefined) {
    const able = context.domains.records.filter((record) => record.demo !== undefined)
    throw new Fault(
      'bad-usage',
      `There is no demo of "${domain}". Domains with a demo: ${able.map((record) => record.domain.name).join(', ') || 'none'}.`,
    )
  }
  const run = await load()
  const config = configOf(context)
  if (isEmbedded(config) && !(await isServerRunning(config)))
    throw new Fault('no-server', 'No server runs on this data folder. Start one: tributary start')
  return withOperations(context, {}, async (call) => {
    const { http, mqtt } = isEmbedded(config)
      ? await call('where', {})
      : { http: `http://${config.http.host}:${config.http.port}`, mqtt: addressIn(config.mqtt) }
    if (http === null) throw new Fault('no-server', 'The running server has no edge. Start one with the role edge.')
    const tally: Tally = { statuses: new Map(), millis: [], failed: 0 }
    const createToken = async (user: string, scopes = 'read,write'): Promise<string> =>
      (await call('token-create', { user, domain, scopes, name: 'demo' })).token
    await run(options, {
      url: http,
      mqtt,
      tally,
      createToken,
      calledAs: context.calledAs ?? 'tributary',
      clock: systemClock,
      signal: context.signal,
      progress: context.output.progress,
    })
    return printTally(context, tally, options.json === true)
  })
}

/** The address of the built-in broker. Null for an outside broker, on which the demo's devices have no accounts. */
const addressIn = (mqtt: Config['mqtt']): string | null =>
  mqtt !== 'off' && 'listen' in mqtt ? `mqtt://${mqtt.listen.host}:${mqtt.listen.port}` : null

const printTally = ({ output, signal }: Context, { statuses, millis, failed, hint }: Tally, json: boolean): Exit => {
  const sorted = millis.sort((a, b) => a - b)
  const quantile = (part: number): number =>
    Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0) * 10) / 10
  const summary = {
    requests: sorted.length,
    statuses: Object.fromEntries([...statuses].sort(([a], [b]) => a - b)),
    failed,
    p50: quantile(0.5),
    p99: quantile(0.99),
  }
  if (json) output.line(JSON.stringify(summary))
  else
    output.line(
      `${summary.requests} requests, answered ${Object.entries(summary.statuses)
        .map(([status, count]) => `${count} × ${status}`)
        .join(', ')}; p50 ${summary.p50} ms, p99 ${summary.p99} ms; ${failed} failed`,
    )
  if (!json && hint !== undefined) output.line(hint)
  if (failed > 0) return EXIT.failed
  return signal.aborted ? EXIT.interrupted : EXIT.fine
}
