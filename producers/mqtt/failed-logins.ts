import { allowedFrom, type Rate } from './rate.ts'

const RATE: Rate = { perSecond: 5, burst: 50 }
const MOST_NAMES = 10_000

/** Counts failed logins per login name. Behind a proxy all devices have one address, so addresses are not counted. */
export const createFailedLogins = (now: () => number, most = MOST_NAMES) => {
  /** For each name, the time from which it can try again. The name whose latest failure is the oldest comes first. */
  const names = new Map<string, number>()
  return {
    isTooFast: (name: string): boolean => (names.get(name) ?? 0) > now(),
    add(name: string): void {
      const from = allowedFrom(names.get(name) ?? 0, { count: 1, now: now() }, RATE)
      names.delete(name)
      for (const oldest of names.keys()) {
        if (names.size < most) break
        names.delete(oldest)
      }
      names.set(name, from)
    },
    size: (): number => names.size,
  }
}
