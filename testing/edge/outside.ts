import type { EdgeOutside } from '../../domains/record.ts'
import type { Clock } from '../../processors/engine/ports/clock.ts'
import type { Secret, Secrets } from '../../processors/engine/ports/secrets.ts'
import type { UserSessions } from '../../producers/access/sessions.ts'

/** The functions that the program gives to an edge, in memory. No public URL is configured, and errors of outside services are ignored. */
export const memoryOutside = (clock: Clock): EdgeOutside => ({
  failed: () => {},
  secrets: memorySecrets(),
  sessions: memorySessions(clock),
  clock,
  publicUrl: undefined,
})

const memorySecrets = (): Secrets => {
  const stored = new Map<string, Secret>()
  const nameOf = (subject: string, name: string) => `${subject}\n${name}`
  return {
    read: async (subject, name) => stored.get(nameOf(subject, name)),
    write: async (subject, name, { expect, value }) => {
      const present = stored.get(nameOf(subject, name))
      if ((present?.version ?? 0) !== expect) return present ?? { version: 0, value: '' }
      stored.set(nameOf(subject, name), { version: expect + 1, value })
      return undefined
    },
    drop: async (subject, name) => void stored.delete(nameOf(subject, name)),
  }
}

/** Sessions of which the test knows only who has none any more, and values that can be taken once. */
export const memorySessions = ({ now }: Pick<Clock, 'now'>): UserSessions & { readonly ended: string[] } => {
  const values = new Map<string, { readonly value: string; readonly expiresAt: number }>()
  const ended: string[] = []
  return {
    ended,
    endAll: async (user) => void ended.push(user),
    putOnce: async (key, value, expiresAt) => void values.set(key, { value, expiresAt }),
    takeOnce: async (key) => {
      const found = values.get(key)
      values.delete(key)
      return found !== undefined && found.expiresAt > now() ? found.value : undefined
    },
  }
}
