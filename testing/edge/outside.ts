import type { Outside } from '../../domains/record.ts'
import type { Secret, Secrets } from '../../processors/engine/ports/secrets.ts'
import type { UserSessions } from '../../producers/access/sessions.ts'
import { NOON } from '../event.ts'

/** The functions that the program gives to an edge and to handlers of asks, in memory. */
export interface MemoryOutside extends Outside {
  /** The errors that were reported with `failed`. */
  readonly failures: unknown[]
  /** The users whose sessions were ended. */
  readonly endedSessions: string[]
}

/** Secrets and values to be used once are in memory. A rate budget allows every call. Default clock: it is always `NOON`. */
export const memoryOutside = (given: Partial<Outside> = {}): MemoryOutside => {
  const [failures, endedSessions]: [unknown[], string[]] = [[], []]
  const clock = given.clock ?? { now: () => NOON, sleep: () => Promise.resolve() }
  return {
    failed: (error) => void failures.push(error),
    secrets: memorySecrets(),
    sessions: memorySessions(clock, endedSessions),
    publicUrl: undefined,
    budget: () => ({
      take: async () => undefined,
      heldUntil: async () => undefined,
      report: async () => undefined,
      pause: async () => undefined,
    }),
    ...given,
    clock,
    failures,
    endedSessions,
  }
}

const memorySecrets = (): Secrets => {
  const stored = new Map<string, Secret>()
  const keyOf = (subject: string, name: string) => JSON.stringify([subject, name])
  return {
    read: async (subject, name) => stored.get(keyOf(subject, name)),
    async write(subject, name, { expect, value }) {
      const known = stored.get(keyOf(subject, name))
      if ((known?.version ?? 0) !== expect) return known ?? { version: 0, value: '' }
      stored.set(keyOf(subject, name), { version: expect + 1, value })
      return undefined
    },
    drop: async (subject, name) => void stored.delete(keyOf(subject, name)),
  }
}

const memorySessions = (clock: { now(): number }, ended: string[]): UserSessions => {
  const values = new Map<string, { readonly value: string; readonly expiresAt: number }>()
  return {
    endAll: async (user) => void ended.push(user),
    putOnce: async (key, value, expiresAt) => void values.set(key, { value, expiresAt }),
    async takeOnce(key) {
      const found = values.get(key)
      values.delete(key)
      return found !== undefined && found.expiresAt > clock.now() ? found.value : undefined
    },
  }
}
