import { Fault } from '../../schemas/fault.ts'
import type { Config } from '../config.ts'
import { configOf } from '../context.ts'
import type { Context } from '../context.ts'
import type { DemoOptions, DemoPlace, Tally } from '../demo.ts'
import { expensesDemo } from '../demo-expenses.ts'
import { mealsDemo } from '../demo-meals.ts'
import { scalesDemo } from '../demo-scales.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'
import { asking, isHeld } from '../reach.ts'
import { isEmbedded } from '../runtime.ts'

const DEMOS: Readonly<Record<string, (context: Context, options: DemoOptions, place: DemoPlace) => Promise<void>>> = { meals: mealsDemo, scales: scalesDemo, expenses: expensesDemo }

/** Through the real edges, with tokens of its own: what it does, anybody can do. */
export const demo = async (context: Context, options: DemoOptions): Promise<Exit> => {
  const run = DEMOS[options.domain]
  if (run === undefined) throw new Fault('bad-usage', `There is no demo of "${options.domain}"; there are demos of ${Object.keys(DEMOS).join(', ')}.`)
  const config = configOf(context)
  if (isEmbedded(config) && !(await isHeld(config))) throw new Fault('no-server', 'No server runs on this data folder. Start one: tributary start')
  return asking(context, {}, async (ask) => {
    const { http, mqtt } = isEmbedded(config)
      ? ((await ask('where', {})) as { http: string | null; mqtt: string | null })
      : { http: `http://${config.http.host}:${config.http.port}`, mqtt: addressIn(config.mqtt) }
    if (http === null) throw new Fault('no-server', 'The running server has no edge. Start one with the role edge.')
    const tally: Tally = { statuses: new Map(), millis: [], failed: 0 }
    await run(context, options, { ask, url: http, mqtt, tally })
    return tell(context, tally, options.json === true)
  })
}

/** Through somebody else's broker the scales of the demo would need accounts there. */
const addressIn = (mqtt: Config['mqtt']): string | null => (mqtt !== 'off' && 'listen' in mqtt ? `mqtt://${mqtt.listen.host}:${mqtt.listen.port}` : null)

const tell = ({ output, signal }: Context, { statuses, millis, failed, look }: Tally, json: boolean): Exit => {
  const sorted = millis.sort((a, b) => a - b)
  const quantile = (part: number): number => Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0) * 10) / 10
  const told = { requests: sorted.length, statuses: Object.fromEntries([...statuses].sort(([a], [b]) => a - b)), failed, p50: quantile(0.5), p99: quantile(0.99) }
  if (json) output.line(JSON.stringify(told))
  else output.line(`${told.requests} requests, answered ${Object.entries(told.statuses).map(([status, count]) => `${count} × ${status}`).join(', ')}; p50 ${told.p50} ms, p99 ${told.p99} ms; ${failed} failed`)
  if (!json && look !== undefined) output.line(look)
  if (failed > 0) return EXIT.failed
  return signal.aborted ? EXIT.interrupted : EXIT.fine
}
