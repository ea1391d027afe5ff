import type { ApiUsageSampled } from '../../schemas/generated/common.ts'
import { DUPLICATE, NOTHING, type Get, type Result } from '../../projections/projection.ts'
import { dayNumberOf, startOf } from '../../projections/instant.ts'
import type { UsageItem } from '../../projections/access/items.ts'
import { usages } from '../../projections/access/keys.ts'
import { hasApplied, withApplied } from './applied-events.ts'
import { refuse } from '../../projections/access/refusals.ts'

/** Counts expire this many days after the end of their UTC day. */
const RETENTION_DAYS = 35
const MAX_COUNT = 1e12

/** Adds a sample to the counts of its day. Each sampled request counts as `weight` requests. */
export const apiUsageSampled = (event: ApiUsageSampled, get: Get): Result => {
  const {
    data: { date, reads, writes, weight },
    meta,
  } = event
  const day = dayNumberOf(date)
  if (day === undefined || ![reads * weight, writes * weight].every(isCount) || weight < 1) {
    return refuse('usage-invalid', 'A usage sample has a UTC day, counts from 0 and a weight from 1.')
  }
  const ttl = startOf(day + 1 + RETENTION_DAYS) / 1000
  if (ttl * 1000 <= meta.occurredAt) return NOTHING
  const key = usages.key(meta.key, date)
  const before = get<UsageItem>(key)
  if (hasApplied(before?._heard, event)) return DUPLICATE
  const item: UsageItem = {
    ...key,
    reads: (before?.reads ?? 0) + reads * weight,
    writes: (before?.writes ?? 0) + writes * weight,
    ttl,
    _heard: withApplied(before?._heard, event),
  }
  return { items: [item] }
}

const isCount = (count: number): boolean => Number.isInteger(count) && count >= 0 && count <= MAX_COUNT
