import type { Generation } from '../processors/engine/control.ts'
import type { DecisionChange } from '../processors/engine/decisions.ts'
import type { Diffed } from '../processors/engine/diff.ts'
import type { ItemChange } from '../processors/engine/differences.ts'
import type { Value } from '../projections/item.ts'
import { counted } from '../schemas/counted.ts'
import { count } from './meter.ts'
import type { Output } from './output.ts'
import type { PointChange, PointsDiffed } from './diff-points.ts'
import type { Workplace } from './workplace.ts'

export interface DiffReport extends Pick<Diffed, 'kinds' | 'sample' | 'bookkeeping' | 'moving' | 'own'> {
  readonly domain: string
  readonly generation: number
  readonly foldVersion: number
  readonly against: { readonly generation: number; readonly foldVersion: number }
  /** Up to where both were folded, by partition. */
  readonly positions: { readonly [partition: string]: number }
  readonly decisions: { readonly changed: number; readonly unknown: number; readonly sample: readonly ToldDecision[] }
  /** Of a domain that has any. */
  readonly points?: PointsDiffed
  readonly differs: boolean
}

interface ToldDecision {
  readonly position: string
  readonly type: string | null
  readonly key: string | null
  readonly appendedAt: string | null
  readonly before: string
  readonly after: string
}

export interface ReportParts {
  readonly generation: number
  readonly against: Pick<Generation, 'generation' | 'foldVersion'>
  readonly diffed: Diffed
  readonly points: PointsDiffed | undefined
  readonly sample: number
}

export const reportOf = async (workplace: Workplace, { generation, against, diffed, points, sample }: ReportParts): Promise<DiffReport> => {
  const { kinds, decisions, unknownDecisions, positions, bookkeeping, moving, own } = diffed
  const told: ToldDecision[] = []
  for (const decision of decisions.slice(0, sample)) told.push(await tell(workplace, decision))
  return {
    domain: workplace.domain.name,
    generation,
    foldVersion: workplace.domain.foldVersion,
    against: { generation: against.generation, foldVersion: against.foldVersion },
    positions: Object.fromEntries(positions),
    kinds,
    sample: diffed.sample,
    decisions: { changed: decisions.length, unknown: unknownDecisions, sample: told },
    bookkeeping,
    moving,
    own,
    ...(points && { points }),
    differs: decisions.length > 0 || [...kinds, ...(points ? [points] : [])].some(({ added, removed, changed }) => added + removed + changed > 0),
  }
}

/** The event that was decided, as far as it can be read. */
const tell = async ({ log, codec }: Workplace, { partition, offset, before, after }: DecisionChange): Promise<ToldDecision> => {
  const told = { position: `${partition}:${offset}`, type: null, key: null, appendedAt: null, before, after }
  for await (const records of log.read(partition, offset, offset + 1)) {
    for (const { key, value, timestamp } of records) return { ...told, key, appendedAt: new Date(timestamp).toISOString(), type: typeOf(codec, value) }
  }
  return told
}

const typeOf = (codec: Workplace['codec'], value: Uint8Array): string | null => {
  try {
    return codec.decode(value).type
  } catch {
    return null
  }
}

export const reportText = (report: DiffReport, { bold, dim, table }: Pick<Output, 'bold' | 'dim' | 'table'>): string => {
  const { domain, generation, foldVersion, against, positions, kinds, decisions, bookkeeping, moving, own, points } = report
  const at = Object.entries(positions).map(([partition, offset]) => `${partition}:${offset}`).join(' ')
  const lines = [bold(`${domain}: generation ${generation} (folds v${foldVersion}) against generation ${against.generation} (folds v${against.foldVersion}), which serves, as of ${at || 'an empty log'}`)]
  if (!report.differs) lines.push(points ? 'no item, no point and no decision comes out differently' : 'no item and no decision comes out differently')
  lines.push(table([['kind', 'added', 'removed', 'changed', 'same', 'fields changed'], ...kinds.map((kind) => [kind.kind, ...[kind.added, kind.removed, kind.changed, kind.same].map(count), fieldsOf(kind.fields)]), ...(points ? [['points', ...[points.added, points.removed, points.changed, points.same].map(count), '-']] : [])], { right: ['added', 'removed', 'changed', 'same'], wrap: ['fields changed'] }))
  if (own > 0) lines.push(dim(`and ${counted(own, 'item')} of our own (outcomes, requests, traces) that are no result of a rule`))
  if (decisions.changed > 0) lines.push('', bold(`decisions that come out differently: ${decisions.changed}`), table([['position', 'event', 'key', 'appended', 'decision'], ...decisions.sample.map((each) => [each.position, each.type ?? '?', each.key ?? '-', each.appendedAt ?? '-', `${each.before} -> ${each.after}`])], { wrap: ['decision'] }))
  if (decisions.unknown > 0) lines.push(dim(`${counted(decisions.unknown, 'refusal')} of events older than a day: what generation ${against.generation} made of them is no longer kept`))
  if (report.sample.length > 0) lines.push('', bold(`a sample of ${report.sample.length}`), ...report.sample.flatMap(textOf))
  if (points !== undefined && points.sample.length > 0) lines.push('', bold(`a sample of ${counted(points.sample.length, 'point')}`), ...points.sample.map(textOfPoint))
  if (bookkeeping > 0) lines.push(dim(`${counted(bookkeeping, 'item')} ${bookkeeping === 1 ? 'was' : 'were'} last touched by another event, and otherwise the same`))
  if (moving > 0) lines.push(dim(`${counted(moving, 'item')} changed too often to be compared; ask again`))
  return lines.join('\n')
}

const fieldsOf = (fields: { readonly [field: string]: number }): string =>
  Object.entries(fields).sort(([, a], [, b]) => b - a).map(([field, items]) => `${field} ${items}`).join(', ') || '-'

const textOf = ({ change, kind, PK, SK, fields }: ItemChange): readonly string[] => [
  `${change} ${kind}  ${PK}  ${SK}`,
  ...fields.map(({ field, before, after }) => `  ${field}: ${change === 'added' ? value(after) : change === 'removed' ? value(before) : `${value(before)} -> ${value(after)}`}`),
]

const textOfPoint = ({ change, measure, dims, at, before, after }: PointChange): string =>
  `${change} ${measure} of ${Object.values(dims).join(', ')} at ${new Date(at).toISOString()}: ${[before, after].filter((found) => found !== undefined).map(value).join(' -> ')}`

const value = (found: Value | undefined): string =>
  found === undefined ? '(none)' : JSON.stringify(found, (_, member: unknown) => (typeof member === 'bigint' ? String(member) : member))
