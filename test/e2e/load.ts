import { setTimeout as delay } from 'node:timers/promises'
import { client, meal } from './program.ts'

/** What was sent, and what came back: the client's side of the truth. */
export interface Load {
  /** Ids of meals by Idempotency-Key, as answered with 201 or 200. */
  readonly acked: Map<string, string>
  /** Keys whose answer never came: they may or may not be in the log. */
  readonly unknown: Set<string>
  /** Answers that are neither: nothing of the kind may happen. */
  readonly unexpected: string[]
  /** Sends what is unknown again, under the same key, until all is acknowledged. */
  settle(url: () => string): Promise<void>
  stop(): Promise<void>
}

export interface LoadOptions {
  readonly url: () => string
  readonly tokens: readonly string[]
  readonly lanes: number
}

/** Posts meals, each under its own Idempotency-Key, from many lanes at once, through every interruption. */
export const startLoad = ({ url, tokens, lanes }: LoadOptions): Load => {
  const acked = new Map<string, string>()
  const unknown = new Set<string>()
  const unexpected: string[] = []
  let next = 0
  let running = true

  const post = async (key: string, at: string): Promise<void> => {
    const index = Number(key)
    const token = tokens[index % tokens.length] ?? ''
    try {
      const { status, body } = await client(at, token).post('/v1/meals', meal(index), { 'idempotency-key': key })
      if (status === 201 || status === 200) {
        acked.set(key, String(body['id']))
        unknown.delete(key)
      } else if (status === 202 || status === 503) unknown.add(key)
      else unexpected.push(`${key}: ${status} ${JSON.stringify(body)}`)
    } catch {
      unknown.add(key)
    }
  }
  const lane = async (): Promise<void> => {
    while (running) {
      const key = String(next++)
      await post(key, url())
      // No answer: the server may be down. The same key again, as a careful client does it.
      while (running && unknown.has(key)) {
        await delay(100)
        await post(key, url())
      }
    }
  }
  const lanesRunning = Promise.all(Array.from({ length: lanes }, lane))
  return {
    acked, unknown, unexpected,
    async settle(at) {
      while (unknown.size > 0) for (const key of [...unknown]) await post(key, at())
    },
    async stop() {
      running = false
      await lanesRunning
    },
  }
}

/** What the meals of `load` come to for each token, by day: the sums that summaries must show. */
export const expectedDays = ({ acked }: Load, { tokens }: Pick<LoadOptions, 'tokens'>): readonly { readonly meals: number; readonly milliCalories: number }[] =>
  tokens.map((_, user) => {
    const indexes = [...acked.keys()].map(Number).filter((index) => index % tokens.length === user)
    return { meals: indexes.length, milliCalories: indexes.reduce((sum, index) => sum + Math.round(meal(index).calories * 1000), 0) }
  })
