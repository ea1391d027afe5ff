import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openBars, requesterFor, type Device } from './bar.ts'
import { inFolder } from './folder.ts'
import { readingAt } from '../domains/scales/benchmark-events.ts'
import { makeToken, startTributary } from './servers.ts'
import { printTable, quantile, ratio } from './table.ts'

const CONNECTIONS = 4
const BATCH = 1_000
const SECONDS = 8
const WARM_UP_MS = 2_000
const PAUSE_MS = 10
const QUIET_LOC = 'quiet'

/** One connection of the flooding tenant: sends batches of 1,000 readings one after another. Returns the number of readings that it sent. */
const flood = async (url: string, { id, password }: Device, isOver: () => boolean): Promise<number> => {
  const readings = Array.from({ length: BATCH }, (_, nth) => JSON.stringify(readingAt(nth)).slice(1))
  let sent = 0
  while (!isOver()) {
    const body = `{"boot":"b1","readings":[${readings.map((reading, nth) => `{"seq":${sent + nth},${reading}`).join(',')}]}`
    const answer = await fetch(`${url}/v1/devices/${id}/readings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${password}`, 'content-type': 'application/json' },
      body,
    })
    if (answer.status !== 202)
      throw new Error(`The answer to a batch of readings is ${answer.status}: ${await answer.text()}`)
    await answer.arrayBuffer()
    sent += BATCH
  }
  return sent
}

/** Sends writes of the quiet tenant one after another for `ms` milliseconds. Returns the time of each write in milliseconds. */
const measure = async (write: (nth: number) => Promise<unknown>, ms: number): Promise<readonly number[]> => {
  const times: number[] = []
  const until = performance.now() + ms
  while (performance.now() < until) {
    const began = performance.now()
    await write(times.length)
    times.push(performance.now() - began)
    await sleep(PAUSE_MS)
  }
  return times
}

/**
 * Measures the writes of one tenant: alone, and while another tenant sends batches of 1,000 readings on four connections. Uses the embedded stores.
 */
export const fairnessBench = (): Promise<void> =>
  inFolder(async (folder) => {
    const env = { TRIBUTARY_DATA: join(folder, 'data') }
    const server = await startTributary(env)
    try {
      const { devices } = await openBars(server, env, CONNECTIONS)
      const quiet = requesterFor(server.url, await makeToken(env, 'quiet', 'scales'))
      await quiet('POST', `/v1/locations/${QUIET_LOC}/devices`, { device_id: 'quiet-scale' })
      const eater = requesterFor(server.url, await makeToken(env, 'eater', 'meals'))
      const writes = {
        'settings of a location, same domain': (nth: number) =>
          quiet('PATCH', `/v1/locations/${QUIET_LOC}/settings`, { low_keg_pct: nth % 50 }),
        'a meal, another domain': (nth: number) =>
          eater('POST', '/v1/meals', {
            mealSummary: `Bowl ${nth}`,
            calories: 500,
            eatenAt: '2026-11-01T12:30:00+01:00',
            tz: 'Europe/Berlin',
          }),
      }
      const alone = new Map<string, readonly number[]>()
      for (const [name, write] of Object.entries(writes)) {
        await measure(write, WARM_UP_MS)
        alone.set(name, await measure(write, SECONDS * 1000))
      }
      let isOver = false
      const began = performance.now()
      const flooding = Promise.all(devices.map((device) => flood(server.url, device, () => isOver)))
      await sleep(WARM_UP_MS)
      const rows: (readonly (string | number)[])[] = []
      for (const [name, write] of Object.entries(writes)) {
        const [idle, flooded] = [alone.get(name) ?? [], await measure(write, SECONDS * 1000)]
        const [before, after] = [quantile(idle, 0.5), quantile(flooded, 0.5)]
        rows.push([
          name,
          before.toFixed(1),
          after.toFixed(1),
          ratio(after / before),
          quantile(idle, 0.99).toFixed(1),
          quantile(flooded, 0.99).toFixed(1),
        ])
      }
      isOver = true
      const sent = (await flooding).reduce((sum, count) => sum + count, 0)
      const perSecond = Math.round(sent / ((performance.now() - began) / 1000))
      printTable(
        `fairness: writes of one tenant next to batches of ${BATCH.toLocaleString('en')} readings of another on ${CONNECTIONS} connections (${perSecond.toLocaleString('en')} readings per second), embedded`,
        [['', 'p50 ms idle', 'p50 ms during the flood', 'ratio', 'p99 ms idle', 'p99 ms during the flood'], ...rows],
      )
    } finally {
      await server.stop()
    }
  })
