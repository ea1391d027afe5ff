import autocannon from 'autocannon'
import type { Server } from './servers.ts'
import { median, printTable, ratio } from './table.ts'

/** The result of one round of load. */
export interface Measured {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly failed: number
}

export interface Comparison {
  readonly title: string
  /** The heading of the rate, such as `requests/s`. */
  readonly rate: string
  readonly rounds: number
  readonly ours: { readonly name: string; readonly load: () => Promise<Measured> }
  /** The same load on a server that does only the necessary work. */
  readonly bare: { readonly name: string; readonly load: () => Promise<Measured> }
}

/** Measures both servers alternately, after one round of warm-up, and prints the medians. */
export const compare = async ({ title, rate, rounds, ours, bare }: Comparison): Promise<void> => {
  const measured: { readonly ours: Measured; readonly bare: Measured }[] = []
  for (let round = 0; round <= rounds; round += 1) {
    const both = { bare: await bare.load(), ours: await ours.load() }
    process.stderr.write(
      `  round ${round}: bare ${Math.round(both.bare.perSecond)}/s, ours ${Math.round(both.ours.perSecond)}/s\n`,
    )
    if (round > 0) measured.push(both)
  }
  const row = (name: string, pick: 'ours' | 'bare') => {
    const of = (value: (round: Measured) => number) => median(measured.map((both) => value(both[pick])))
    return [
      name,
      Math.round(of(({ perSecond }) => perSecond)),
      of(({ p50 }) => p50).toFixed(1),
      of(({ p99 }) => p99).toFixed(1),
      measured.reduce((sum, both) => sum + both[pick].failed, 0),
    ]
  }
  printTable(title, [
    ['', rate, 'p50 ms', 'p99 ms', 'failed'],
    row(ours.name, 'ours'),
    row(bare.name, 'bare'),
    ['ratio', ratio(median(measured.map((both) => both.ours.perSecond / both.bare.perSecond))), '', '', ''],
  ])
}

export interface Post {
  /** Absent: the path authenticates the request. */
  readonly token?: string
  readonly path: string
  /** A function is called for each request. */
  readonly body: object | (() => object)
}

/** Sends the requests again and again on many connections, for `seconds`. */
export const post = async (
  { url }: Server,
  posts: readonly Post[],
  { connections, seconds }: { readonly connections: number; readonly seconds: number },
): Promise<Measured> => {
  const requests = posts.map(({ token, path, body }) => ({
    method: 'POST' as const,
    path,
    headers: { 'content-type': 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    ...(typeof body === 'function'
      ? { setupRequest: (request: autocannon.Request) => ({ ...request, body: JSON.stringify(body()) }) }
      : { body: JSON.stringify(body) }),
  }))
  const result = await autocannon({ url, connections, duration: seconds, requests })
  return {
    perSecond: result['2xx'] / result.duration,
    p50: result.latency.p50,
    p99: result.latency.p99,
    failed: result.non2xx + result.errors,
  }
}
