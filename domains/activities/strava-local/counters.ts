import type { LocalClock } from './clock.ts'

const QUARTER_MS = 900_000

/** Calls of one route in one window of 15 minutes, by status. Status 0: the service sent no answer. */
type Calls = Record<string, Record<string, number>>

/** Counts the calls of OAuth and the API. */
export interface Counters {
  count(route: string, status: number): void
  /** Per start of a window, per route such as `GET /activities/{id}`, per status. */
  read(): Readonly<Record<string, Calls>>
  clear(): void
}

export const createCounters = (clock: LocalClock): Counters => {
  const windows = new Map<number, Map<string, Map<number, number>>>()
  return {
    count: (route, status) => {
      const start = clock.now() - (clock.now() % QUARTER_MS)
      const routes = windows.get(start) ?? new Map<string, Map<number, number>>()
      const statuses = routes.get(route) ?? new Map<number, number>()
      windows.set(start, routes)
      routes.set(route, statuses)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    },
    read: () =>
      Object.fromEntries(
        [...windows].map(([start, routes]) => [
          new Date(start).toISOString(),
          Object.fromEntries([...routes].map(([route, statuses]) => [route, Object.fromEntries(statuses)])),
        ]),
      ),
    clear: () => windows.clear(),
  }
}
