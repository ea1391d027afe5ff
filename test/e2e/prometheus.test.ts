import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { describeWith } from '../services/available.ts'
import { prometheusAvailable, startPrometheus } from '../services/prometheus.ts'
import { client, withFailingFold, freshFolder, meal, newToken, run, startServer, runOk, until } from './program.ts'

/** The rules of docs/alerts.yml. Each alert fires at once, so that the test need not wait. */
const RULES = readFileSync(new URL('../../docs/alerts.yml', import.meta.url), 'utf8').replace(/for: \w+/g, 'for: 0s')

describeWith('a real Prometheus', prometheusAvailable(), () => {
  test('reports a domain that was never verified, a parked key and a replaced generation, and clears each alert when its cause is resolved', async () => {
    const env = { TRIBUTARY_DATA: freshFolder() }
    const server = await startServer(withFailingFold(env, 'throw'))
    const ann = client(server.url, await newToken(env, 'ann'))
    const prometheus = await startPrometheus({ target: new URL(server.admin).host, rules: RULES })
    onTestFinished(() => prometheus.stop())
    const isFiring = async (alertname: string): Promise<boolean> =>
      (await prometheus.firing()).some((labels) => labels['alertname'] === alertname && labels['domain'] === 'meals')
    const untilFiring = (alertname: string) =>
      until(
        () => isFiring(alertname),
        () => `${alertname} does not fire`,
      )
    const untilClear = (alertname: string) =>
      until(
        async () => !(await isFiring(alertname)),
        () => `${alertname} still fires`,
      )

    await untilFiring('TributaryUnverified')
    expect(await isFiring('TributaryParked')).toBe(false)
    await runOk(['verify', 'meals'], env)
    await untilClear('TributaryUnverified')

    expect((await ann.post('/v1/meals', { ...meal(1), calories: 666 }, { prefer: 'respond-async' })).status).toBe(202)
    await untilFiring('TributaryParked')
    await runOk(['parked', 'discard', 'ann', '--reason', 'test', '--by', 'ops'], env)
    await untilClear('TributaryParked')

    const lags = (generation: number) =>
      prometheus.query(`tributary_lag_events{domain="meals",generation="${generation}"}`)
    await until(
      async () => (await lags(1)).length === 1,
      () => 'generation 1 has no lag',
    )
    expect(await run(['rebuild', 'meals', '--yes'], withFailingFold(env, 'throw'))).toMatchObject({ code: 0 })
    await until(
      async () => (await lags(2)).length === 1 && (await lags(1)).length === 0,
      () => 'the lag of generation 1 is still there',
    )
    await untilFiring('TributaryUnverified')
    await runOk(['generations', 'meals', '--drop', '1', '--yes'], env)
    await until(
      async () => (await prometheus.query('{domain="meals",generation="1",__name__=~"tributary_.*"}')).length === 0,
      () => 'generation 1 still has series',
    )
  }, 240_000)
})
