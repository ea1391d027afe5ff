import { inUser } from '../access/keys.ts'
import { TTL } from '../access/table.ts'
import { oncePerReader, pageOf, type Paging } from '../entity.ts'
import type { Key } from '../item.ts'
import type { IndexSpec, Page, TableSpec } from '../table.ts'

/** One entry of the audit of a person. It contains no data from Strava. */
export type AuditItem = Key & {
  readonly eventType: string
  readonly result: string
  readonly atUtc: string
  readonly requestId: string
  readonly correlationId: string
  readonly method?: string
  readonly path?: string
  readonly ipHash?: string
  /** The subject of the entry, such as the id of a milestone or the pseudonym of an activity. */
  readonly subject?: string
  readonly ttl: number
  readonly GSI1PK: string
  readonly GSI1SK: string
  readonly GSI2PK: string
  readonly GSI2SK: string
}

/** When the current link of the person began. With it, the fold recognizes a revocation from before the link. */
export type AuditLinkItem = Key & { readonly epoch: number; readonly linkedAtUtc: string }

/** `second` is the time of the entry in epoch seconds, with ten digits. */
export const auditEntries = inUser<AuditItem, [second: string, id: string]>('audit entry', 'AUDIT#')
export const auditLinks = inUser<AuditLinkItem>('link', 'LINK')

export const secondText = (ms: number): string => String(Math.max(0, Math.floor(ms / 1000))).padStart(10, '0')

export const correlationPartition = (correlation: string): string => `CORR#${correlation}`
/** `month`: YYYYMM. */
export const typePartition = (eventType: string, month: string): string => `EVENT#${eventType}#${month}`

const BY_CORRELATION: IndexSpec = { name: 'GSI1', pk: 'GSI1PK', sk: 'GSI1SK', project: 'all' }
const BY_TYPE: IndexSpec = { name: 'GSI2', pk: 'GSI2PK', sk: 'GSI2SK', project: 'all' }

export const auditTable: TableSpec = {
  name: 'CommitCollectAudit',
  ttl: TTL,
  indexes: [BY_CORRELATION, BY_TYPE],
  kinds: [auditEntries.kind, auditLinks.kind],
}

/** The queries of the audit. */
export const auditQueries = oncePerReader((reader) => ({
  /** The entries of a person, newest first. */
  ofUser: (user: string, paging: Paging): Promise<Page<AuditItem>> =>
    auditEntries.page(reader, user, { ...paging, reverse: true }),
  /** The entries of everything that one request caused, oldest first. */
  ofCorrelation: (correlation: string, paging: Paging): Promise<Page<AuditItem>> =>
    pageOf(reader, { index: BY_CORRELATION.name, pk: correlationPartition(correlation), ...paging }),
  /** The entries of one type in one month (YYYYMM), oldest first. */
  ofType: (eventType: string, month: string, paging: Paging): Promise<Page<AuditItem>> =>
    pageOf(reader, { index: BY_TYPE.name, pk: typePartition(eventType, month), ...paging }),
}))
