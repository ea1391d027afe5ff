import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createMetrics } from '../../host/serving/metrics.ts'
import { describeWith } from '../services/available.ts'
import { prometheusAvailable, promtool } from '../services/prometheus.ts'

const RULES = readFileSync(new URL('../../docs/alerts.yml', import.meta.url), 'utf8')
const ALERTS = [...RULES.matchAll(/- alert: (\w+)/g)].map(([, name]) => name ?? '')

/** Values by series, one value per interval, in the notation of promtool: `0+5x10` is 0, 5, 10 … up to 50, and `_x3` is three missing values. */
type Series = Readonly<Record<string, string>>
interface Case {
  readonly fires: Series
  readonly silent: Series
  /** The time at which the alert must fire or not, from the start of the series on. Default: 15m. */
  readonly at?: string
  /** Time between two values, and between two evaluations of the rule. Default: 1m. */
  readonly interval?: string
}

const MEALS = '{domain="meals"}'
const GENERATION = '{domain="meals",generation="1"}'
const responses = (status: string) =>
  `tributary_http_responses_total{edge="public",route="/v1/meals",status="${status}"}`
const bucket = (le: string) =>
  `tributary_http_request_duration_seconds_bucket{edge="public",method="GET",route="/v1/meals",class="2xx",le="${le}"}`
/** For alerts about two days without a verify. The clock of promtool begins in 1970, so the test looks three days after the timestamp 0. */
const LATE = { at: '3d', interval: '1h' }
const days = (value: string) => `${value}x80`

const CASES: Readonly<Record<string, Case>> = {
  TributaryDown: {
    fires: { 'up{job="tributary",instance="a"}': '0x20' },
    silent: { 'up{job="tributary",instance="a"}': '1x20', 'up{job="node",instance="b"}': '0x20' },
  },
  TributaryErrorBudgetFast: {
    fires: { [responses('200')]: '0+100x90', [responses('503')]: '0+2x90' },
    silent: { [responses('200')]: '0+100x90', [responses('503')]: '0+1x90', [responses('404')]: '0+50x90' },
    at: '80m',
  },
  TributaryErrorBudgetSlow: {
    fires: { [responses('200')]: '0+1000x420', [responses('503')]: '0+7x420' },
    silent: { [responses('200')]: '0+1000x420', [responses('503')]: '0+5x420' },
    at: '400m',
  },
  TributarySlowAnswers: {
    fires: { [bucket('1')]: '0+90x30', [bucket('2.5')]: '0+100x30', [bucket('+Inf')]: '0+100x30' },
    silent: { [bucket('1')]: '0+100x30', [bucket('2.5')]: '0+100x30', [bucket('+Inf')]: '0+100x30' },
    at: '25m',
  },
  // In the silent case, generation 1 is replaced: its series ends before the alert fires, and generation 2 has no lag.
  TributaryBehind: {
    fires: { [`tributary_lag_seconds${GENERATION}`]: '90x20' },
    silent: {
      [`tributary_lag_seconds${GENERATION}`]: '90x7 stale',
      'tributary_lag_seconds{domain="meals",generation="2"}': '_x7 0x12',
    },
  },
  TributaryUnfollowed: {
    fires: { [`tributary_serving_followed${MEALS}`]: '0x20' },
    silent: { [`tributary_serving_followed${MEALS}`]: '1x20' },
  },
  TributaryLogTrimmed: {
    fires: { [`tributary_log_trimmed${MEALS}`]: '1x20' },
    silent: { [`tributary_log_trimmed${MEALS}`]: '0x20' },
  },
  TributaryAppendFailing: {
    fires: { 'tributary_faults_total{domain="meals",code="log-unavailable"}': '0+1x20' },
    silent: {
      'tributary_faults_total{domain="meals",code="log-unavailable"}': '9x20',
      'tributary_faults_total{domain="meals",code="store-throttled"}': '0+1x20',
    },
  },
  TributaryParked: {
    fires: { [`tributary_parked_keys${MEALS}`]: '1x20' },
    silent: { [`tributary_parked_keys${MEALS}`]: '0x20' },
  },
  TributaryParkedLong: {
    fires: {
      [`tributary_parked_keys${MEALS}`]: days('1'),
      [`tributary_parked_oldest_timestamp_seconds${MEALS}`]: days('3600'),
    },
    silent: {
      [`tributary_parked_keys${MEALS}`]: days('0'),
      [`tributary_parked_oldest_timestamp_seconds${MEALS}`]: days('0'),
      'tributary_parked_keys{domain="scales"}': days('1'),
      'tributary_parked_oldest_timestamp_seconds{domain="scales"}': days('200000'),
    },
    ...LATE,
  },
  TributaryDrift: {
    fires: { [`tributary_verify_differences${MEALS}`]: '2x20' },
    silent: {
      [`tributary_verify_differences${MEALS}`]: '0x20',
      'tributary_verify_differences{domain="scales"}': '2x7 stale',
    },
  },
  // A domain that was never verified has the timestamp 0.
  TributaryUnverified: {
    fires: { [`tributary_verify_timestamp_seconds${MEALS}`]: days('0') },
    silent: { [`tributary_verify_timestamp_seconds${MEALS}`]: days('200000') },
    ...LATE,
  },
  TributaryRebuildStalled: {
    fires: {
      [`tributary_rebuild_events_per_second${GENERATION}`]: '0x20',
      [`tributary_rebuild_progress_ratio${GENERATION}`]: '0.5x20',
    },
    silent: {
      [`tributary_rebuild_events_per_second${GENERATION}`]: '0x20',
      [`tributary_rebuild_progress_ratio${GENERATION}`]: '1x20',
    },
  },
  TributaryFaults: {
    fires: { 'tributary_faults_total{domain="meals",code="store-throttled"}': '0+10x20' },
    silent: { 'tributary_faults_total{domain="meals",code="store-throttled"}': '0+5x20' },
    at: '20m',
  },
  TributaryLoopBlocked: {
    fires: { 'nodejs_eventloop_lag_p99_seconds{job="tributary"}': '0.3x20' },
    silent: {
      'nodejs_eventloop_lag_p99_seconds{job="tributary"}': '0.2x20',
      'nodejs_eventloop_lag_p99_seconds{job="node"}': '0.3x20',
    },
  },
  TributaryRestarting: {
    fires: { 'process_start_time_seconds{job="tributary"}': '0+60x20' },
    silent: { 'process_start_time_seconds{job="tributary"}': '0x6 400x6 800x8' },
  },
}

/** True if the alert fires. The promtool test expects no alert, so promtool fails and prints the alert if it fires. */
const isFiring = (alert: string, series: Series, { at = '15m', interval = '1m' }: Case): boolean => {
  const tests = [
    {
      interval,
      input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
      alert_rule_test: [{ eval_time: at, alertname: alert, exp_alerts: [] }],
    },
  ]
  const { code, printed } = promtool(['test', 'rules', 'test.yml'], {
    files: {
      'alerts.yml': RULES,
      'test.yml': JSON.stringify({ rule_files: ['alerts.yml'], evaluation_interval: interval, tests }),
    },
  })
  if (code !== 0 && !printed.includes(`alertname: ${alert}`)) throw new Error(printed)
  return code !== 0
}

test('every alert has a case in which it fires and one in which it does not', () =>
  expect(Object.keys(CASES).sort()).toEqual([...ALERTS].sort()))

describeWith('the alert rules in promtool', prometheusAvailable(), () => {
  test('promtool accepts the rules', () =>
    expect(promtool(['check', 'rules', 'alerts.yml'], { files: { 'alerts.yml': RULES } })).toMatchObject({
      code: 0,
      printed: expect.stringContaining(`SUCCESS: ${ALERTS.length} rules found`),
    }))

  test.each(Object.entries(CASES))('%s fires in its firing case, and not in its silent case', (alert, each) => {
    expect({ fires: isFiring(alert, each.fires, each), silent: isFiring(alert, each.silent, each) }).toEqual({
      fires: true,
      silent: false,
    })
  })

  test('promtool finds no problem in the names and the help texts of the metrics', async () => {
    const text = await createMetrics(Date.now, { log: 'embedded', items: 'embedded', roles: 'edge' }).text([])
    expect(
      promtool(['check', 'metrics'], { input: text })
        .printed.split('\n')
        .filter((line) => line.startsWith('tributary_')),
    ).toEqual([])
  })
})
