import type { ReadingQuarantined, ReadingReported, TareRecorded } from '../../schemas/generated/scales.ts'
import { NOTHING, type Get, type Result } from '../../projections/projection.ts'
import { isoOf } from '../../projections/instant.ts'
import type { QuarantineCountItem, QuarantinedItem } from '../../projections/scales/items.ts'
import { isId, quarantineCounts, quarantined, quarantinedAt } from '../../projections/scales/keys.ts'
import { startWork, type Work } from '../folding/work.ts'
import { isTime } from './fit.ts'
import { valueOf } from './recent-readings.ts'

export interface QuarantineReason {
  readonly reason: string
  readonly detail: string
}

const RETENTION_SECONDS = 30 * 86_400
const LONGEST = 2000

/** Quarantines a reading that the edge accepted and the fold rejects, because the reason depends on the stored state. */
export const quarantine = (work: Work, { data, meta }: ReadingReported, reason: QuarantineReason): Result => {
  const { device_id, boot, seq, at } = data
  put(work, meta.key, {
    device_id,
    boot,
    seq,
    at,
    ...reason,
    reading: JSON.stringify(data).slice(0, LONGEST),
    name: `${nameOf(boot, seq)}:${valueOf(data)}`,
  })
  return work.result()
}

/** Quarantines a tare (the weight of a full or empty keg) of a device. Stores no row for a tare that a person sent without a device. */
export const quarantineTare = (work: Work, { data, meta }: TareRecorded, reason: QuarantineReason): Result => {
  const { device_id, at } = data
  if (device_id !== null && isId(device_id))
    put(work, meta.key, {
      device_id,
      boot: null,
      seq: null,
      at,
      ...reason,
      reading: JSON.stringify(data).slice(0, LONGEST),
      name: `-:${meta.eventId.slice(-12)}`,
    })
  return work.result()
}

/** Stores a reading that the edge quarantined. */
export const readingQuarantined = ({ data, meta }: ReadingQuarantined, get: Get): Result => {
  if (!isId(data.device_id) || !isTime(data.at)) return NOTHING
  const work = startWork(get)
  put(work, meta.key, {
    ...data,
    reading: data.reading.slice(0, LONGEST),
    name: `${nameOf(data.boot, data.seq)}:${meta.eventId.slice(-12)}`,
  })
  return work.result()
}

const nameOf = (boot: string | null, seq: number | null): string =>
  boot !== null && isId(boot) && seq !== null ? `${boot}:${seq}` : '-'

type Quarantined = Omit<ReadingQuarantined['data'], 'detail'> & QuarantineReason & { readonly name: string }

/** Names that no store accepts for an attribute. */
const UNNAMEABLE: readonly string[] = ['', '__proto__']

/** Stores the reading and counts it. Does nothing if the row exists: then the reading is counted already. */
const put = (
  work: Work,
  key: string,
  { device_id, name: id, boot, seq, at, reason, detail, reading }: Quarantined,
): void => {
  const row: QuarantinedItem = {
    ...quarantined.key(key, quarantinedAt(device_id), isoOf(at), id),
    boot,
    seq,
    at: isoOf(at),
    reason,
    detail,
    reading,
    ttl: Math.floor(at / 1000) + RETENTION_SECONDS,
  }
  if (work.get({ PK: row.PK, SK: row.SK }) !== undefined) return
  const before = work.get(quarantineCounts.key(key, device_id))
  const known = before?.reasons ?? {}
  const name = UNNAMEABLE.includes(reason) ? 'other' : reason
  const counted = Object.hasOwn(known, name) ? (known[name] ?? 0) : 0
  work.put(row)
  work.put({
    ...quarantineCounts.key(key, device_id),
    total: (before?.total ?? 0) + 1,
    reasons: { ...known, [name]: counted + 1 },
  } satisfies QuarantineCountItem)
}
