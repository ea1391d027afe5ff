import type { Generation } from '../processors/engine/generations/generation.ts'
import type { DecisionChange } from '../processors/engine/proof/decisions.ts'
import type { Diffed } from '../processors/engine/proof/diff.ts'
import type { ItemChange } from '../processors/engine/proof/differences.ts'
import type { Value } from '../projections/item.ts'
import { counted } from '../schemas/counted.ts'
import { count } from '../host/serving/meter.ts'
import type { Output } from './output.ts'
import type { PointChange, PointsDiffed } from './diff-points.ts'
import type { DomainAccess } from '../host/ipc/domain-access.ts'

export interface DiffReport extends Pick<
  Diffed,
  'kinds' | 'sample' | 'bookkeeping' | 'moving' | 'own' | 'changingAsks'
> {
  readonly domain: string
  readonly generation: number
  readonly foldVersion: number
  readonly against: { readonly generation: number; readonly foldVersion: number }
  /** The end offsets up to which both generations were folded, by partition. */
  readonly positions: { readonly [partition: string]: number }
  readonly decisions: {
    readonly changed: number
    readonly unknown: number
    readonly sample: readonly DescribedDecision[]
  }
  /** Absent if the domain has no series. */
  readonly points?: PointsDiffed
  readonly differs: boolean
}

interface DescribedDecision {
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

export const reportOf = async (
  access: DomainAccess,
  { generation, against, diffed, points, sample }: ReportParts,
): Promise<DiffReport> => {
  const { kinds, decisions, unknownDecisions, positions, bookkeeping, moving, own, changingAsks } = diffed
  const described: DescribedDecision[] = []
  for (const decision of decisions.slice(0, sample)) described.push(await describeDecision(access, decision))
  return {
    domain: access.domain.name,
    generation,
    foldVersion: access.domain.foldVersion,
    against: { generation: against.generation, foldVersion: against.foldVersion },
    positions: Object.fromEntries(positions),
    kinds,
    sample: diffed.sample,
    decisions: { changed: decisions.length, unknown: unknownDecisions, sample: described },
    bookkeeping,
    moving,
    own,
    changingAsks,
    ...(points && { points }),
    differs:
      decisions.length > 0 ||
      [...kinds, ...(points ? [points] : [])].some(({ added, removed, changed }) => added + removed + changed > 0),
  }
}

/** Describes a decision with its event. If the event cannot be decoded, `type` is null. If the log has no such event, all its parts are null. */
const describeDecision = async (
  { log, codec }: DomainAccess,
  { partition, offset, before, after }: DecisionChange,
): Promise<DescribedDecision> => {
  const described = { position: `${partition}:${offset}`, type: null, key: null, appendedAt: null, before, after }
  for await (const records of log.read(partition, offset, offset + 1)) {
    for (const { key, value, timestamp } of records)
      return { ...described, key, appendedAt: new Date(timestamp).toISOString(), type: typeOf(codec, value) }
  }
  return described
}

const typeOf = (codec: DomainAccess['codec'], value: Uint8Array): string | null => {
  try {
    return codec.decode(value).type
  } catch {
    return null
  }
}

export const reportText = (
  report: DiffReport,
  { bold, dim, table }: Pick<Output, 'bold' | 'dim' | 'table'>,
): string => {
  const { domain, generation, foldVersion, against, positions, kinds, decisions, bookkeeping, moving, own, points } =
    report
  const at = Object.entries(positions)
    .map(([partition, offset]) => `${partition}:${offset}`)
    .join(' ')
  const lines = [
    bold(
      `${domain}: generation ${generation} (fold version ${foldVersion}) against the serving generation ${against.generation} (fold version ${against.foldVersion}), as of ${at || 'an empty log'}`,
    ),
  ]
  if (!report.differs)
    lines.push(points ? 'no item, no point and no decision changes' : 'no item and no decision changes')
  lines.push(
    table(
      [
        ['kind', 'added', 'removed', 'changed', 'same', 'fields changed'],
        ...kinds.map((kind) => [
          kind.kind,
          ...[kind.added, kind.removed, kind.changed, kind.same].map(count),
          fieldsOf(kind.fields),
        ]),
        ...(points ? [['points', ...[points.added, points.removed, points.changed, points.same].map(count), '-']] : []),
      ],
      { right: ['added', 'removed', 'changed', 'same'], wrap: ['fields changed'] },
    ),
  )
  if (own > 0) lines.push(dim(`and ${counted(own, 'item')} of bookkeeping (outcomes, requests, tombstones)`))
  if (decisions.changed > 0)
    lines.push(
      '',
      bold(`changed decisions: ${decisions.changed}`),
      table(
        [
          ['position', 'event', 'key', 'appended', 'decision'],
          ...decisions.sample.map((each) => [
            each.position,
            each.type ?? '?',
            each.key ?? '-',
            each.appendedAt ?? '-',
            `${each.before} -> ${each.after}`,
          ]),
        ],
        { wrap: ['decision'] },
      ),
    )
  if (decisions.unknown > 0)
    lines.push(
      dim(
        `${counted(decisions.unknown, 'refusal')} of events older than a day: generation ${against.generation} no longer stores its decisions on them`,
      ),
    )
  if (report.sample.length > 0)
    lines.push('', bold(`a sample of ${report.sample.length}`), ...report.sample.flatMap(textOf))
  if (points !== undefined && points.sample.length > 0)
    lines.push('', bold(`a sample of ${counted(points.sample.length, 'point')}`), ...points.sample.map(textOfPoint))
  if (bookkeeping > 0)
    lines.push(
      dim(
        `${counted(bookkeeping, 'item')} ${bookkeeping === 1 ? 'differs' : 'differ'} only in the event that changed them last`,
      ),
    )
  if (report.changingAsks > 0)
    lines.push(
      `after a flip, ${counted(report.changingAsks, 'call')} of outside services that ${report.changingAsks === 1 ? 'changes' : 'change'} something will wait for an operator (tributary asks)`,
    )
  if (moving > 0) lines.push(dim(`${counted(moving, 'item')} changed during every comparison; run the command again`))
  return lines.join('\n')
}

const fieldsOf = (fields: { readonly [field: string]: number }): string =>
  Object.entries(fields)
    .sort(([, a], [, b]) => b - a)
    .map(([field, items]) => `${field} ${items}`)
    .join(', ') || '-'

const textOf = ({ change, kind, PK, SK, fields }: ItemChange): readonly string[] => [
  `${change} ${kind}  ${PK}  ${SK}`,
  ...fields.map(
    ({ field, before, after }) =>
      `  ${field}: ${change === 'added' ? value(after) : change === 'removed' ? value(before) : `${value(before)} -> ${value(after)}`}`,
  ),
]

const textOfPoint = ({ change, measure, dims, at, before, after }: PointChange): string =>
  `${change} ${measure} of ${Object.values(dims).join(', ')} at ${new Date(at).toISOString()}: ${[before, after]
    .filter((found) => found !== undefined)
    .map(value)
    .join(' -> ')}`

const value = (found: Value | undefined): string =>
  found === undefined
    ? '(none)'
    : JSON.stringify(found, (_, member: unknown) => (typeof member === 'bigint' ? String(member) : member))
