import { readFileSync } from 'node:fs'
import type { MetricObject } from 'prom-client'
import { describe, expect, test } from 'vitest'
import { createInstruments, type Build } from '../../../host/serving/instruments.ts'
import { OUR_DOMAINS } from '../../../domains/list.ts'
import { ourEdges } from '../../producers/our-edges.ts'
import { createMetrics, type Measured, type Metrics } from '../../../host/serving/metrics.ts'
import { isEvent, readSources } from '../../../schemas/sources.ts'
import { Fault } from '../../../schemas/fault.ts'

const BUILD: Build = { log: 'kafka', items: 'dynamodb', roles: 'edge,processor' }
const NOON = Date.parse('2026-11-16T12:00:00.000Z')
const PASSED = {
  partition: 0,
  from: 0,
  next: 5,
  exceptions: new Map(),
  events: 5,
  parked: 0,
  conflicts: 1,
  due: {},
  newest: NOON,
}

const measured = (more: Partial<Measured> = {}): Measured => ({
  domain: 'meals',
  generation: 1,
  followed: true,
  lagEvents: 0,
  lagSeconds: 0,
  trimmed: [],
  parked: 0,
  waiting: 0,
  asks: { due: 0, waiting: 0 },
  parkedSince: null,
  verified: null,
  rebuild: null,
  generations: [{ generation: 1, state: 'following', foldVersion: 1 }],
  units: [],
  ...more,
})
const listed = (...generations: readonly number[]): Measured['generations'] =>
  generations.map((generation) => ({ generation, state: 'following', foldVersion: 1 }))

/** Scrapes the metrics. Returns the lines of our own series, without those of Node.js. */
const scraped = async (metrics: Metrics, ...measuredDomains: readonly Measured[]): Promise<readonly string[]> =>
  (await metrics.text(measuredDomains)).split('\n').filter((line) => line.startsWith('tributary_'))
const create = (): Metrics => createMetrics(() => NOON, BUILD)

describe('a generation that was replaced or dropped', () => {
  test('has no gauge any more, from any state', async () => {
    const metrics = create()
    const proof = { at: NOON, items: 9, differences: 2, generation: 1, keys: null }
    const before = measured({
      lagEvents: 7,
      lagSeconds: 90,
      trimmed: [{ partition: 0, low: 3 }],
      parked: 1,
      waiting: 4,
      parkedSince: NOON,
      verified: proof,
      followed: false,
      rebuild: { generation: 2, share: 0.5, eventsPerSecond: 0 },
      generations: listed(1, 2),
    })
    expect((await scraped(metrics, before)).filter((line) => /generation="[12]"/.test(line))).toHaveLength(4)
    const after = await scraped(metrics, measured({ generation: 2, verified: proof, generations: listed(2) }))
    expect(after.filter((line) => line.includes('generation="1"'))).toEqual([])
    expect(
      after.filter(
        (line) =>
          line.startsWith('tributary_rebuild') ||
          line.startsWith('tributary_verify_differences') ||
          line.startsWith('tributary_verify_items'),
      ),
    ).toEqual([])
    expect(after).toEqual(
      expect.arrayContaining([
        'tributary_lag_events{domain="meals",generation="2"} 0',
        'tributary_serving_generation{domain="meals"} 2',
        'tributary_parked_keys{domain="meals"} 0',
        'tributary_log_trimmed{domain="meals"} 0',
      ]),
    )
  })

  test('keeps its counters while it exists, and loses them when it is dropped', async () => {
    const metrics = create()
    for (const generation of [1, 2]) metrics.observer.batchFolded('meals', generation, PASSED)
    const units = [
      { generation: 1, domain: 3, bookkeeping: 1 },
      { generation: 2, domain: 4, bookkeeping: 1 },
    ]
    const counters = (lines: readonly string[]) =>
      lines.filter((line) => /^tributary_(events_folded|write_units)_total\{.*generation="1"/.test(line))
    expect(counters(await scraped(metrics, measured({ generation: 2, generations: listed(1, 2), units })))).toEqual([
      'tributary_events_folded_total{domain="meals",generation="1"} 5',
      'tributary_write_units_total{domain="meals",generation="1",kind="domain"} 3',
      'tributary_write_units_total{domain="meals",generation="1",kind="bookkeeping"} 1',
    ])
    expect(
      counters(await scraped(metrics, measured({ generation: 2, generations: listed(2), units: units.slice(1) }))),
    ).toEqual([])
  })
})

test('a domain that could not be measured has no gauge, and its counters stay', async () => {
  const metrics = create()
  metrics.observer.batchFolded('meals', 1, PASSED)
  await scraped(
    metrics,
    measured({ parked: 1, waiting: 2, parkedSince: NOON, units: [{ generation: 1, domain: 3, bookkeeping: 1 }] }),
  )
  const found = (await scraped(metrics)).filter((line) => line.includes('domain="meals"'))
  expect(found.map((line) => line.split('{')[0]).sort()).toEqual([
    'tributary_events_folded_total',
    'tributary_fold_conflicts_total',
    'tributary_write_units_total',
    'tributary_write_units_total',
  ])
})

test('write units are a counter with the totals of the adapter, however often they are scraped', async () => {
  const metrics = create()
  for (const total of [3, 3, 8]) {
    const text = await metrics.text([measured({ units: [{ generation: 1, domain: total, bookkeeping: 1 }] })])
    expect(text).toContain('# TYPE tributary_write_units_total counter')
    expect(text).toContain(`tributary_write_units_total{domain="meals",generation="1",kind="domain"} ${total}\n`)
  }
})

describe('verify', () => {
  const seconds = async (verified: Measured['verified']) =>
    (await scraped(create(), measured({ generation: 2, verified }))).filter((line) =>
      line.startsWith('tributary_verify_timestamp_seconds'),
    )
  const proof = { at: NOON, items: 9, differences: 0, generation: 2, keys: null }

  test('a domain that was never verified has the timestamp 0', async () =>
    expect(await seconds(null)).toEqual(['tributary_verify_timestamp_seconds{domain="meals"} 0']))
  test('the time is in seconds', async () =>
    expect(await seconds(proof)).toEqual([`tributary_verify_timestamp_seconds{domain="meals"} ${NOON / 1000}`]))
  test('a verify of another generation does not count for the serving one', async () =>
    expect(await seconds({ ...proof, generation: 1 })).toEqual([
      'tributary_verify_timestamp_seconds{domain="meals"} 0',
    ]))
})

test.each([
  [
    'no key is parked',
    { parked: 0, parkedSince: null },
    ['tributary_parked_oldest_timestamp_seconds{domain="meals"} 0'],
  ],
  [
    'a key is parked',
    { parked: 1, parkedSince: NOON },
    [`tributary_parked_oldest_timestamp_seconds{domain="meals"} ${NOON / 1000}`],
  ],
  ['the time of the parked event is unknown', { parked: 1, parkedSince: null }, []],
])('the oldest parked event, if %s', async (_, more, expected) => {
  expect(
    (await scraped(create(), measured(more))).filter((line) => line.startsWith('tributary_parked_oldest')),
  ).toEqual(expected)
})

test('an answer has its edge, method, route and class, and its exact status', async () => {
  const metrics = create()
  metrics.report.answered({ method: 'GET', route: '/v1/meals/:id', status: 404, seconds: 0.3 })
  const lines = await scraped(metrics)
  expect(lines).toEqual(
    expect.arrayContaining([
      'tributary_http_responses_total{edge="public",route="/v1/meals/:id",status="404"} 1',
      'tributary_http_request_duration_seconds_bucket{le="0.25",edge="public",method="GET",route="/v1/meals/:id",class="4xx"} 0',
      'tributary_http_request_duration_seconds_bucket{le="0.5",edge="public",method="GET",route="/v1/meals/:id",class="4xx"} 1',
    ]),
  )
})

test('the process names its version, Node.js, log, store and roles', async () => {
  expect((await scraped(create())).find((line) => line.startsWith('tributary_build_info'))).toMatch(
    /^tributary_build_info\{version="[^"]+",node="v\d+[^"]*",log="kafka",items="dynamodb",roles="edge,processor"\} 1$/,
  )
})

test('a fault is counted by its code; an error of a library has no label of its own', async () => {
  const metrics = create()
  metrics.observer.failed('meals', new Fault('log-unavailable', 'The log does not answer.'))
  metrics.observer.failed('meals', Object.assign(new Error('connect'), { code: 'user-4711' }))
  expect((await scraped(metrics)).filter((line) => line.startsWith('tributary_faults_total'))).toEqual([
    'tributary_faults_total{domain="meals",code="log-unavailable"} 1',
    'tributary_faults_total{domain="meals",code="internal"} 1',
  ])
})

describe('names and labels', () => {
  type Labelled = MetricObject & { readonly labelNames: readonly string[] }
  const own = () =>
    createInstruments(BUILD)
      .registry.getMetricsAsArray()
      .filter((metric): metric is Labelled => 'labelNames' in metric && !/^(process|nodejs)_/.test(metric.name))

  test('every metric of ours has the prefix, and exactly the counters end in _total', () => {
    expect(own().length).toBeGreaterThan(25)
    for (const { name, constructor } of own()) {
      expect(name).toMatch(/^tributary_[a-z_]+$/)
      expect([name, name.endsWith('_total')]).toEqual([name, constructor.name === 'Counter'])
    }
  })

  test('labels are closed sets: none is a user, a key, a device or a position', () => {
    const labels = new Set(own().flatMap(({ labelNames }) => labelNames))
    expect([...labels].sort()).toEqual([
      'cause',
      'class',
      'code',
      'domain',
      'edge',
      'generation',
      'items',
      'kind',
      'log',
      'method',
      'node',
      'outcome',
      'reason',
      'roles',
      'route',
      'source',
      'status',
      'type',
      'version',
    ])
  })

  test('docs/operating.md lists every metric with its type and labels, and no other', () => {
    const page = readFileSync(new URL('../../../docs/operating.md', import.meta.url), 'utf8')
    const rows = [...page.matchAll(/^\| `(tributary_\w+)` \| (\w+) \| ([^|]*) \|/gm)].map(
      ([, name, type, labels]) => `${name} ${type} ${labels?.trim()}`,
    )
    expect(rows.sort()).toEqual(
      own()
        .map(
          ({ name, constructor, labelNames }) =>
            `${name} ${constructor.name.toLowerCase()} ${labelNames.map((label) => `\`${label}\``).join(', ') || '–'}`,
        )
        .sort(),
    )
  })
})

test('a process has at most 5,000 series, for any requests', async () => {
  const metrics = create()
  const routes = ourEdges().flatMap(({ routes: table }) => table.map(({ url }) => url))
  const statuses = [200, 201, 202, 304, 400, 401, 403, 404, 405, 409, 413, 415, 422, 426, 429, 500, 503]
  for (const route of [...routes, 'none'])
    for (const method of ['GET', 'HEAD', 'POST', 'PROPFIND', 'X-STRANGE'])
      for (const status of statuses) metrics.report.answered({ method, route, status, seconds: 0.01 })
  for (const { domain, schema } of readSources().filter((source) => isEvent(source.schema)))
    for (const source of ['edge', 'mqtt', 'import']) metrics.report.appended({ domain, source, type: schema.name })
  const measuredDomains = OUR_DOMAINS.all.map(({ name }) =>
    measured({
      domain: name,
      parked: 1,
      parkedSince: NOON,
      verified: { at: NOON, items: 1, differences: 0, generation: 1, keys: null },
      rebuild: { generation: 2, share: 0, eventsPerSecond: 0 },
      generations: listed(1, 2),
      units: [{ generation: 1, domain: 1, bookkeeping: 1 }],
    }),
  )
  const series = (await metrics.text(measuredDomains))
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  expect(series.length).toBeLessThanOrEqual(5_000)
  expect(series).toContainEqual(expect.stringContaining('route="other"'))
  expect(series.join('\n')).not.toContain('STRANGE')
})
