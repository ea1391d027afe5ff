import { inFolder } from './folder.ts'
import { makeToken, startTributary } from './servers.ts'
import { startServices } from './services.ts'
import { printTable, quantile } from './table.ts'

const SAMPLES = 300
const WARM_UP = 50

interface Sample {
  readonly accepted: number
  readonly visible: number
}

/**
 * Measures two times in milliseconds. Accepted: from the request to the answer 202, when the log contains the event. Visible: from this answer until
 * a read with `Tributary-After`, sent at once, returns the item.
 */
const measure = async (url: string, token: string): Promise<readonly Sample[]> => {
  const authorization = `Bearer ${token}`
  const samples: Sample[] = []
  for (let index = 0; index < SAMPLES + WARM_UP; index += 1) {
    const began = performance.now()
    const body = JSON.stringify({
      mealSummary: 'Soup',
      calories: 100 + index,
      protein: 1,
      carbs: 2,
      fat: 3,
      eatenAt: '2026-11-16T12:00:00Z',
      tz: 'UTC',
    })
    const posted = await fetch(`${url}/v1/meals`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', prefer: 'respond-async' },
      body,
    })
    const accepted = performance.now()
    const { id } = (await posted.json()) as { id: string }
    const read = await fetch(`${url}/v1/meals/${id}`, {
      headers: { authorization, 'tributary-after': posted.headers.get('tributary-event') ?? '' },
    })
    if (posted.status !== 202 || read.status !== 200)
      throw new Error(`the answers are ${posted.status} and ${read.status}`)
    await read.arrayBuffer()
    if (index >= WARM_UP) samples.push({ accepted: accepted - began, visible: performance.now() - accepted })
  }
  return samples
}

const run = (env: Readonly<Record<string, string>>): Promise<readonly Sample[]> =>
  inFolder(async (folder) => {
    const settings = { ...env, TRIBUTARY_DATA: folder }
    const server = await startTributary(settings)
    try {
      return await measure(server.url, await makeToken(settings, 'bench'))
    } finally {
      await server.stop()
    }
  })

/** Measures the time from the acceptance of an event until its item can be read, with one request at a time. */
export const freshBench = async (): Promise<void> => {
  const embedded = await run({})
  const services = await startServices()
  const outside = await run({
    TRIBUTARY_KAFKA: services.kafka.join(','),
    TRIBUTARY_DYNAMODB: services.dynamodb,
  }).finally(() => services.stop())
  const row = (name: string, samples: readonly Sample[]) => {
    const of = (pick: (sample: Sample) => number, q: number) => quantile(samples.map(pick), q).toFixed(1)
    return [
      name,
      of(({ accepted }) => accepted, 0.5),
      of(({ accepted }) => accepted, 0.99),
      of(({ visible }) => visible, 0.5),
      of(({ visible }) => visible, 0.99),
    ]
  }
  printTable(`fresh: accepted → visible, ms, ${SAMPLES} meals one at a time`, [
    ['', 'accepted p50', 'accepted p99', 'visible p50', 'visible p99'],
    row('embedded', embedded),
    row('Kafka + DynamoDB Local', outside),
  ])
}
