import { setTimeout as delay } from 'node:timers/promises'
import { client, meal, until } from './program.ts'
import type { Client, Server } from './program.ts'

/** The requests of the client and their answers. */
export interface Load {
  /** Acknowledged meals: the id in the answer 201 or 200, by Idempotency-Key. */
  readonly acked: Map<string, string>
  /** The Idempotency-Keys of requests without an answer. Their events may be in the log. */
  readonly unknown: Set<string>
  /** All other answers. Must stay empty. */
  readonly unexpected: string[]
  /** Repeats requests without an answer, with the same key, until all are acknowledged. */
  settle(url: () => string): Promise<void>
  stop(): Promise<void>
}

export interface LoadOptions {
  readonly url: () => string
  readonly tokens: readonly string[]
  readonly connections: number
  /** The day of all meals. Default: 2026-11-16. */
  readonly day?: string
  /** The first Idempotency-Key, a number. Each next key is one higher. Default: 0. */
  readonly first?: number
}

const DAY = '2026-11-16'

/** Posts meals on several connections at once, each with its own Idempotency-Key, until `stop`. Continues when the server is back after a failure. */
export const startLoad = ({ url, tokens, connections, day = DAY, first = 0 }: LoadOptions): Load => {
  const acked = new Map<string, string>()
  const unknown = new Set<string>()
  const unexpected: string[] = []
  let next = first
  let running = true

  const post = async (key: string, at: string): Promise<void> => {
    const index = Number(key)
    const token = tokens[index % tokens.length] ?? ''
    try {
      const { status, body } = await client(at, token).post('/v1/meals', meal(index, day), { 'idempotency-key': key })
      if (status === 201 || status === 200) {
        acked.set(key, String(body['id']))
        unknown.delete(key)
      } else if (status === 202 || status === 503) unknown.add(key)
      else unexpected.push(`${key}: ${status} ${JSON.stringify(body)}`)
    } catch {
      unknown.add(key)
    }
  }
  const runConnection = async (): Promise<void> => {
    while (running) {
      const key = String(next++)
      await post(key, url())
      // Without an answer, the server may be down. Repeats the request with the same key, as a client should, so that the meal is not logged twice.
      while (running && unknown.has(key)) {
        await delay(100)
        await post(key, url())
      }
    }
  }
  const connectionsRun = Promise.all(Array.from({ length: connections }, runConnection))
  return {
    acked,
    unknown,
    unexpected,
    async settle(at) {
      while (unknown.size > 0) for (const key of [...unknown]) await post(key, at())
    },
    async stop() {
      running = false
      await connectionsRun
    },
  }
}

const PROGRESS_MS = 120_000

export const progress = (load: Load, { stderr }: Pick<Server, 'stderr'>, acks: number): Promise<void> => {
  const enough = load.acked.size + acks
  return until(
    () => Promise.resolve(load.acked.size >= enough),
    () => `no progress at ${load.acked.size}; ${load.unexpected.join('; ')}; ${stderr()}`,
    PROGRESS_MS,
  )
}

/** Resolves when requests of every user, and therefore of every partition, were acknowledged since the call. */
export const progressOnEveryKey = (load: Load, { stderr }: Pick<Server, 'stderr'>, users: number): Promise<void> => {
  const before = load.acked.size
  const progressed = (): boolean => {
    const since = [...load.acked.keys()].slice(before).map((key) => Number(key) % users)
    return new Set(since).size === users && since.length > 60
  }
  return until(
    () => Promise.resolve(progressed()),
    () => `some keys stand still: ${stderr()}`,
    PROGRESS_MS,
  )
}

/** The expected number of meals and sum of calories of the day, for each token. */
export const expectedDays = (
  { acked }: Load,
  { tokens }: Pick<LoadOptions, 'tokens'>,
): readonly { readonly meals: number; readonly milliCalories: number }[] =>
  tokens.map((_, user) => {
    const indexes = [...acked.keys()].map(Number).filter((index) => index % tokens.length === user)
    return {
      meals: indexes.length,
      milliCalories: indexes.reduce((sum, index) => sum + Math.round(meal(index).calories * 1000), 0),
    }
  })

/** The differences between the day on the server and the acknowledged requests: lost, doubled or unknown meals, and wrong sums. */
export const differencesOf = async (
  load: Load,
  { url, tokens, day = DAY }: Pick<LoadOptions, 'url' | 'tokens' | 'day'>,
): Promise<readonly string[]> => {
  const expected = expectedDays(load, { tokens })
  const found = await Promise.all(
    tokens.map(async (token, user) => {
      const ids = await idsOf(client(url(), token), day)
      const acked = new Set([...load.acked].filter(([key]) => Number(key) % tokens.length === user).map(([, id]) => id))
      const summaries = await client(url(), token).get(`/v1/summaries?from=${day}&to=${day}`)
      const [summary] = summaries.body['items'] as readonly { mealCount: number; totalCalories: number }[]
      const sums = { meals: summary?.mealCount ?? 0, milliCalories: Math.round((summary?.totalCalories ?? 0) * 1000) }
      return [
        ...[...acked].filter((id) => !ids.includes(id)).map((id) => `${day}: meal ${id} was acknowledged and is lost`),
        ...ids
          .filter((id, index) => !acked.has(id) || ids.indexOf(id) !== index)
          .map((id) => `${day}: meal ${id} is doubled, or was never sent`),
        ...(JSON.stringify(sums) === JSON.stringify(expected[user])
          ? []
          : [
              `${day}: the summary is ${JSON.stringify(sums)}, the sum of the meals is ${JSON.stringify(expected[user])}`,
            ]),
      ]
    }),
  )
  return found.flat()
}

const idsOf = async (asker: Client, day: string): Promise<readonly string[]> => {
  const ids: string[] = []
  for (let cursor: unknown = ''; typeof cursor === 'string';) {
    const { status, body } = await asker.get(
      `/v1/meals?day=${day}&limit=200${cursor === '' ? '' : `&cursor=${cursor}`}`,
    )
    if (status !== 200) throw new Error(`the meals of ${day} are not to be had: ${status} ${JSON.stringify(body)}`)
    ids.push(...(body['items'] as readonly { id: string }[]).map(({ id }) => id))
    cursor = body['cursor']
  }
  return ids
}
