import { crc32 } from 'node:zlib'
import type { Commands } from '../commands.ts'
import { derivedId } from '../ids.ts'
import type { Access, Admitted } from './auth.ts'
import { envelope } from './envelope.ts'
import type { Draft } from './route.ts'

export interface UsageParts {
  readonly access: Access
  readonly commands: Commands
  /** One request in so many is counted, with that weight; null: none is. */
  readonly sample: number | null
  readonly source: string
  failed(error: unknown): void
  appended?(type: string): void
}

interface Used {
  readonly caller: Admitted
  readonly kind: 'read' | 'write'
  /** The event's id, or the request's where there was none. */
  readonly id: string
  readonly now: number
  readonly day: string
}

/** What is said about a request after its answer: sampled usage (M6), and the token's last day of use (M5). */
export interface Usage {
  record(used: Used): void
  /** Waits for what is under way. */
  settled(): Promise<void>
}

/** The same id is sampled or not, on every replay and in every process (M-j). */
export const isSampled = (id: string, one: number): boolean => crc32(id) % one === 0

export const createUsage = ({ access, commands, sample, source, failed, appended }: UsageParts): Usage => {
  const underWay = new Set<Promise<unknown>>()
  let said = { day: '', pats: new Set<string>() }

  const append = ({ caller: { user }, now, id }: Used, purpose: readonly string[], draft: Draft) => {
    const meta = envelope({ eventId: derivedId(...purpose), user, now, source, correlationId: id })
    const done: Promise<unknown> = commands
      .execute({ ...draft, meta }, { wait: false, timeoutMs: 0 })
      .then(() => appended?.(draft.type))
      .catch(failed)
      .finally(() => underWay.delete(done))
    underWay.add(done)
  }
  const sayUsed = (used: Used) => {
    const { caller: { patId, lastUsedAt }, day } = used
    if (day !== said.day) said = { day, pats: new Set() }
    if (patId === null || lastUsedAt === day || said.pats.has(patId)) return
    said.pats.add(patId)
    append(used, ['used', patId, day], access.used(patId, day))
  }
  return {
    record(used) {
      sayUsed(used)
      if (sample === null || !isSampled(used.id, sample)) return
      const [reads, writes] = used.kind === 'read' ? [1, 0] : [0, 1]
      append(used, ['usage', used.id], access.sampled({ day: used.day, reads, writes, weight: sample }))
    },
    async settled() {
      while (underWay.size > 0) await Promise.all(underWay)
    },
  }
}
