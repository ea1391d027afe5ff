import { crc32 } from 'node:zlib'
import type { Commands } from '../commands.ts'
import { derivedId } from '../ids.ts'
import type { Access, AuthenticatedCaller } from './auth.ts'
import { eventMeta } from './event-meta.ts'
import type { Draft } from './route.ts'

export interface UsageParts {
  readonly access: Access
  readonly commands: Commands
  /** The sampling of usage. For example 10: one of 10 requests is counted, as 10 requests. Null: requests are not counted. */
  readonly sample: number | null
  readonly source: string
  failed(error: unknown): void
  appended?(type: string): void
}

interface UsedRequest {
  readonly caller: AuthenticatedCaller
  readonly kind: 'read' | 'write'
  /** The id of the request's event. Without an event: the id of the request. */
  readonly id: string
  readonly now: number
  readonly day: string
}

/** After an answer was sent, appends events with the sampled usage (M6) and with the token's last day of use (M5). */
export interface Usage {
  record(used: UsedRequest): void
  /** Waits until all appends that have begun have ended. */
  settled(): Promise<void>
}

/** True for about 1 of `one` ids, for example for 1 of 10. An id has the same result in every process (M-j). */
export const isSampled = (id: string, one: number): boolean => crc32(id) % one === 0

export const createUsage = ({ access, commands, sample, source, failed, appended }: UsageParts): Usage => {
  const underWay = new Set<Promise<unknown>>()
  /** The tokens whose use this process has appended for the day. */
  let recorded = { day: '', pats: new Set<string>() }

  const append = ({ caller: { user }, now, id }: UsedRequest, purpose: readonly string[], draft: Draft) => {
    const meta = eventMeta({ eventId: derivedId(...purpose), user, now, source, correlationId: id })
    const done: Promise<unknown> = commands
      .execute({ ...draft, meta }, { wait: false, timeoutMs: 0 })
      .then(() => appended?.(draft.type))
      .catch(failed)
      .finally(() => underWay.delete(done))
    underWay.add(done)
  }
  const recordTokenUse = (used: UsedRequest) => {
    const {
      caller: { patId, lastUsedAt },
      day,
    } = used
    if (day !== recorded.day) recorded = { day, pats: new Set() }
    if (patId === null || lastUsedAt === day || recorded.pats.has(patId)) return
    recorded.pats.add(patId)
    append(used, ['used', patId, day], access.used(patId, day))
  }
  return {
    record(used) {
      recordTokenUse(used)
      if (sample === null || !isSampled(used.id, sample)) return
      const [reads, writes] = used.kind === 'read' ? [1, 0] : [0, 1]
      append(used, ['usage', used.id], access.sampled({ day: used.day, reads, writes, weight: sample }))
    },
    async settled() {
      while (underWay.size > 0) await Promise.all(underWay)
    },
  }
}
