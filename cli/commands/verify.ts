import { verify as verifyStore } from '../../processors/engine/proof/verify.ts'
import type { Difference, Verified } from '../../processors/engine/proof/verify.ts'
import { build } from '../../processors/engine/rebuild/build.ts'
import { untilCaughtUp, VERIFY_PATIENCE_MS } from '../../processors/engine/proof/compare.ts'
import { endsOf } from '../../processors/engine/generations/positions.ts'
import { verifyPoints, type PointDifference, type VerifiedPoints } from '../../processors/engine/proof/verify-points.ts'
import type { Scratch } from '../../host/wiring/embedded.ts'
import { onlyKeys, onlyPartitions, upToParked } from '../../processors/engine/proof/sample.ts'
import { parkedIn, type StoredParked } from '../../processors/engine/poison/parked-entry.ts'
import { unknownGeneration } from '../../processors/engine/generations/control-rows.ts'
import { fieldChanges } from '../../processors/engine/proof/differences.ts'
import type { Value } from '../../projections/item.ts'
import { counted } from '../../schemas/counted.ts'
import { Fault } from '../../schemas/fault.ts'
import type { Context } from '../context.ts'
import { draw } from '../draw.ts'
import { count } from '../../host/serving/meter.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'
import { forEachDomain } from '../../host/ipc/domain-access.ts'
import type { DomainAccess } from '../../host/ipc/domain-access.ts'

export interface VerifyOptions {
  readonly domain?: string | undefined
  readonly key?: string
  readonly sample?: number
  readonly generation?: number
  readonly json?: true
}

/** Folds the log again in this process, so that a running server is not slowed down, and compares the result with the stored items. */
export const verify = async (
  context: Context,
  { domain, key, sample, generation, json }: VerifyOptions,
): Promise<Exit> => {
  if (key !== undefined && sample !== undefined) throw new Fault('bad-usage', 'Add --key or --sample, not both.')
  let differs = false
  await forEachDomain(context, domain, async (access) => {
    const keys = key !== undefined ? [key] : sample === undefined ? undefined : await draw(access.log, sample)
    const verifiedGeneration = await generationOf(access, generation)
    const verified = await verifySteady(context, access, { keys, generation: verifiedGeneration })
    const { items } = verified
    const differences = [...verified.differences, ...(verified.points?.differences ?? [])]
    if (key === undefined && verifiedGeneration === access.serving)
      await access.control.verified(access.domain.name, {
        at: access.clock.now(),
        items,
        differences: differences.length,
        generation: verifiedGeneration,
        keys: keys?.length ?? null,
      })
    differs ||= differences.length > 0
    printResult(context, { domain: access.domain.name, verified, keys, json: json === true })
    if (keys !== undefined && access.domain.series !== undefined)
      context.output.note(`To compare the points too, verify the whole domain: tributary verify ${access.domain.name}`)
  })
  return differs ? EXIT.differs : EXIT.fine
}

/**
 * Returns the number of the generation to verify. Throws a fault if this generation does not exist or is not complete. Also throws a fault if
 * it has another fold version, because a comparison would then report false differences.
 */
const generationOf = async ({ domain, control, serving }: DomainAccess, requested = serving): Promise<number> => {
  const listed = (await control.generations(domain.name)).find(({ generation }) => generation === requested)
  if (listed === undefined) throw unknownGeneration(domain.name, requested)
  if (listed.state !== 'following')
    throw new Fault(
      'generation-unfinished',
      `Generation ${requested} of ${domain.name} is not complete, so there is nothing to verify. See: tributary generations ${domain.name}.`,
    )
  if (listed.foldVersion === domain.foldVersion) return requested
  throw new Fault(
    'folds-differ',
    `Generation ${requested} of ${domain.name} was built with fold version ${listed.foldVersion}, and this program has fold version ${domain.foldVersion}, so a comparison would report false differences. Verify with the release that built it, or run tributary start (on Kafka and DynamoDB: tributary rebuild ${domain.name}), which builds a generation of this release.`,
  )
}

interface VerifyScope {
  readonly keys: readonly string[] | undefined
  readonly generation: number
}

/** Compares a parked key up to its parked event. If there are differences, and a key was parked or healed meanwhile, verifies again. */
const verifySteady = async (context: Context, access: DomainAccess, scope: VerifyScope): Promise<Checked> => {
  const store = await access.store(scope.generation)
  const loadParked = async () => parkedIn(store, (await endsOf(access.log)).keys())
  const positionsOf = (entries: readonly StoredParked[]): string =>
    JSON.stringify(entries.map(({ PK, SK, offset }) => [PK, SK, offset]))
  for (let parked = await loadParked(); ;) {
    const verified = await verifyOne(
      context,
      { ...access, log: upToParked(access.log, parked) },
      { ...scope, shared: parked.length === 0 },
    )
    const after = await loadParked()
    const still = parked.filter(({ key }) => key !== null && scope.keys?.includes(key) !== false).length
    if (verified.differences.length === 0 || positionsOf(after) === positionsOf(parked)) return { ...verified, still }
    parked = after
  }
}

/**
 * Verifies once. With `shared`, several workers can fold the log. Workers also fold the events after a parked event, so `shared` must be false
 * if a key is parked.
 */
const verifyOne = async (
  { output, signal }: Context,
  access: DomainAccess,
  { keys, generation, shared }: VerifyScope & { readonly shared: boolean },
): Promise<Verified & Pick<Checked, 'points'>> => {
  const { domain, codec, clock, log } = access
  const store = await access.store(generation)
  const { of, keyIn } = domain.partitions
  const partitions = of && keys?.flatMap(of)
  const some = keys && new Set<string | undefined>(keys)
  const progress = (events: number): void =>
    output.progress(`${domain.name}: ${counted(events, 'event')} ${keys === undefined ? 'folded' : 'read'}`)
  const ends = await store.checkpoints()
  const scratch = await access.scratch(
    keys === undefined && shared ? { log, codec, ends, progress, signal } : undefined,
  )
  try {
    const verified = await verifyStore({
      domain,
      codec,
      clock,
      signal,
      series: scratch.series,
      log: keys === undefined ? log : { ...onlyKeys(log, keys), watermarks: log.watermarks },
      store:
        keys === undefined
          ? store
          : {
              load: store.load,
              checkpoints: store.checkpoints,
              scan: partitions === undefined ? store.scan : onlyPartitions(store, partitions),
            },
      scratch: scratch.store,
      progress,
      ...(some === undefined ? {} : { belongs: (item) => some.has(keyIn(item.PK, item)) }),
    })
    return keys === undefined
      ? { ...verified, points: await pointsOf(access, scratch, { generation, signal }) }
      : verified
  } finally {
    await scratch.remove()
  }
}

/** The result for items and points. Points are compared only if all keys are compared. */
interface Checked extends Verified {
  readonly points?: VerifiedPoints | undefined
  /** The number of parked keys. They were compared up to their parked event. */
  readonly still: number
}

const pointsOf = async (
  access: DomainAccess,
  { store: target, series: folded }: Scratch,
  { generation, signal }: { generation: number; signal: AbortSignal },
): Promise<VerifiedPoints | undefined> => {
  const { domain, codec, log, clock } = access
  const [stored, store] = [await access.series(generation), await access.store(generation)]
  if (domain.series === undefined || folded === undefined || stored === undefined) return undefined
  const advance = async () => {
    for (const { positions: ends } of await untilCaughtUp([store], {
      log,
      clock,
      patienceMs: VERIFY_PATIENCE_MS,
      signal,
    }))
      await build({ domain, codec, log, target, series: folded, signal, ends })
  }
  return verifyPoints({ spec: domain.series, stored, folded, advance })
}

const SHOWN = 20

const printResult = (
  { output }: Context,
  {
    domain,
    verified,
    keys,
    json,
  }: { domain: string; verified: Checked; keys: readonly string[] | undefined; json: boolean },
): void => {
  const { events, items, differences, moving, points, still } = verified
  if (json)
    return output.line(
      JSON.stringify({
        domain,
        events,
        items,
        keys: keys?.length ?? null,
        differences,
        moving,
        still,
        ...(points !== undefined && { points }),
      }),
    )
  for (const difference of differences.slice(0, SHOWN)) output.line(describe(difference))
  if (differences.length > SHOWN)
    output.line(`and ${counted(differences.length - SHOWN, 'item')} more; --json shows all of them`)
  for (const difference of points?.differences.slice(0, SHOWN) ?? []) output.line(describePoint(difference))
  if (points !== undefined)
    output.line(`${domain}: ${counted(points.points, 'point')} compared, ${count(points.differences.length)} differ`)
  const verdict = `${domain}: ${counted(events, 'event')} folded${keys === undefined ? '' : ` of ${counted(keys.length, 'key')}`}, ${counted(items, 'item')} compared, ${count(differences.length)} differ`
  const changing = moving === 0 ? '' : `; ${count(moving)} changed at every comparison`
  const parked =
    still === 0
      ? ''
      : `; ${counted(still, 'key')} ${still === 1 ? 'is' : 'are'} parked and compared up to the parked event, see: tributary parked`
  output.line(`${differences.length === 0 ? verdict : output.red(verdict)}${changing}${parked}`)
}

const describePoint = ({ kind, measure, dims, at, stored, folded }: PointDifference): string =>
  [
    `${kind} ${measure} of ${Object.values(dims).join(', ')} at ${new Date(at).toISOString()}`,
    ...(stored === undefined ? [] : [`  stored ${shown(stored)}`]),
    ...(folded === undefined ? [] : [`  folded ${shown(folded)}`]),
  ].join('\n')

/**
 * Describes a difference: the stored and the folded value of each field that differs. If `_pos` differs, another event was the last one to
 * change the stored item.
 */
const describe = ({ kind, PK, SK, stored, folded }: Difference): string => {
  const fields = fieldChanges(stored, folded).map(
    ({ field, before, after }) =>
      `  ${field}: ${kind === 'missing' ? shown(after) : kind === 'extra' ? shown(before) : `stored ${shown(before)}, folded ${shown(after)}`}`,
  )
  const position =
    kind === 'changed' && stored?._pos !== folded?._pos
      ? [`  _pos: stored ${stored?._pos}, folded ${folded?._pos}`]
      : []
  return [`${kind} ${PK} ${SK}`, ...fields, ...position].join('\n')
}

const shown = (value: Value | undefined): string =>
  value === undefined
    ? '(none)'
    : JSON.stringify(value, (_, member: unknown) => (typeof member === 'bigint' ? String(member) : member))
