import { verify as verifyStore } from '../../processors/engine/verify.ts'
import type { Difference, Verified } from '../../processors/engine/verify.ts'
import { build } from '../../processors/engine/build.ts'
import { untilReached, VERIFY_PATIENCE_MS } from '../../processors/engine/compare.ts'
import { endsOf } from '../../processors/engine/positions.ts'
import { verifyPoints, type PointDifference, type VerifiedPoints } from '../../processors/engine/verify-points.ts'
import type { Scratch } from '../adapters.ts'
import { onlyKeys, onlyPartitions, upToParked } from '../../processors/engine/sample.ts'
import { parkedIn, type StoredParked } from '../../processors/engine/parking.ts'
import { unknownGeneration } from '../../processors/engine/control-rows.ts'
import { fieldChanges } from '../../processors/engine/differences.ts'
import type { Value } from '../../projections/item.ts'
import { counted } from '../../schemas/counted.ts'
import { Fault } from '../../schemas/fault.ts'
import { placesOf } from '../domains.ts'
import type { Context } from '../context.ts'
import { draw } from '../draw.ts'
import { count } from '../meter.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'
import { inWorkplaces } from '../workplace.ts'
import type { Workplace } from '../workplace.ts'

export interface VerifyOptions {
  readonly domain?: string | undefined
  readonly key?: string
  readonly sample?: number
  readonly generation?: number
  readonly json?: true
}

/** Folds in this process, beside a running server, so that nobody waits for it. */
export const verify = async (context: Context, { domain, key, sample, generation, json }: VerifyOptions): Promise<Exit> => {
  if (key !== undefined && sample !== undefined) throw new Fault('bad-usage', '--key names one key and --sample draws some: give one of them.')
  let differs = false
  await inWorkplaces(context, domain, async (workplace) => {
    const keys = key !== undefined ? [key] : sample === undefined ? undefined : await draw(workplace.log, sample)
    const one = await generationOf(workplace, generation)
    const verified = await verifySteady(context, workplace, { keys, generation: one })
    const { items } = verified
    const differences = [...verified.differences, ...(verified.points?.differences ?? [])]
    if (key === undefined && one === workplace.serving) await workplace.control.verified(workplace.domain.name, { at: workplace.clock.now(), items, differences: differences.length, generation: one, keys: keys?.length ?? null })
    differs ||= differences.length > 0
    tell(context, { domain: workplace.domain.name, verified, keys, json: json === true })
    if (keys !== undefined && workplace.domain.series !== undefined) context.output.note(`Points are compared only all together: tributary verify ${workplace.domain.name}`)
  })
  return differs ? EXIT.differs : EXIT.fine
}

/** Other folds than those that made it would find differences that are none. */
const generationOf = async ({ domain, control, serving }: Workplace, asked = serving): Promise<number> => {
  const listed = (await control.generations(domain.name)).find(({ generation }) => generation === asked)
  if (listed === undefined) throw unknownGeneration(domain.name, asked)
  if (listed.state !== 'following') throw new Fault('generation-unfinished', `Generation ${asked} of ${domain.name} is not complete, so there is nothing to verify. See: tributary generations ${domain.name}.`)
  if (listed.foldVersion === domain.foldVersion) return asked
  throw new Fault('folds-differ', `Generation ${asked} of ${domain.name} was made by folds of version ${listed.foldVersion}, and this program has version ${domain.foldVersion}: it would find differences that are none. Verify with the release that made it, or run tributary start (on Kafka and DynamoDB: tributary rebuild ${domain.name}), which builds a generation of this release.`)
}

interface Asked {
  readonly keys: readonly string[] | undefined
  readonly generation: number
}

/** Compares a parked key as of its parked event. Verifies once more if a key was parked or healed meanwhile. */
const verifySteady = async (context: Context, workplace: Workplace, asked: Asked): Promise<Checked> => {
  const store = await workplace.store(asked.generation)
  const standing = async () => parkedIn(store, (await endsOf(workplace.log)).keys())
  const places = (entries: readonly StoredParked[]): string => JSON.stringify(entries.map(({ PK, SK, offset }) => [PK, SK, offset]))
  for (let parked = await standing(); ;) {
    const verified = await verifyOne(context, { ...workplace, log: upToParked(workplace.log, parked) }, { ...asked, shared: parked.length === 0 })
    const after = await standing()
    const still = parked.filter(({ key }) => key !== null && asked.keys?.includes(key) !== false).length
    if (verified.differences.length === 0 || places(after) === places(parked)) return { ...verified, still }
    parked = after
  }
}

/** Shared among workers, who read the log themselves, only where nothing stands still. */
const verifyOne = async ({ output, signal }: Context, workplace: Workplace, { keys, generation, shared }: Asked & { readonly shared: boolean }): Promise<Verified & Pick<Checked, 'points'>> => {
  const { domain, codec, clock, log } = workplace
  const store = await workplace.store(generation)
  const places = placesOf(domain.name)
  const partitions = places.of && keys?.flatMap(places.of)
  const some = keys && new Set<string | undefined>(keys)
  const progress = (events: number): void => output.progress(`${domain.name}: ${counted(events, 'event')} ${keys === undefined ? 'folded' : 'looked through'}`)
  const ends = await store.checkpoints()
  const scratch = await workplace.scratch(keys === undefined && shared ? { log, codec, ends, progress, signal } : undefined)
  try {
    const verified = await verifyStore({
      domain, codec, clock, signal,
      series: scratch.series,
      log: keys === undefined ? log : { ...onlyKeys(log, keys), watermarks: log.watermarks },
      store: keys === undefined ? store : { load: store.load, checkpoints: store.checkpoints, scan: partitions === undefined ? store.scan : onlyPartitions(store, partitions) },
      scratch: scratch.store,
      progress,
      ...(some === undefined ? {} : { belongs: (item) => some.has(places.keyIn(item.PK, item)) }),
    })
    return keys === undefined ? { ...verified, points: await pointsOf(workplace, scratch, { generation, signal }) } : verified
  } finally {
    await scratch.remove()
  }
}

/** The points beside the items; of some keys only, they are not compared. */
interface Checked extends Verified {
  readonly points?: VerifiedPoints | undefined
  /** Keys that stand still, and were compared as of there. */
  readonly still: number
}

const pointsOf = async (workplace: Workplace, { store: target, series: folded }: Scratch, { generation, signal }: { generation: number; signal: AbortSignal }): Promise<VerifiedPoints | undefined> => {
  const { domain, codec, log, clock } = workplace
  const [stored, store] = [await workplace.series(generation), await workplace.store(generation)]
  if (domain.series === undefined || folded === undefined || stored === undefined) return undefined
  const advance = async () => {
    for (const { positions: ends } of await untilReached([store], { log, clock, patienceMs: VERIFY_PATIENCE_MS, signal })) await build({ domain, codec, log, target, series: folded, signal, ends })
  }
  return verifyPoints({ spec: domain.series, stored, folded, advance })
}

const SHOWN = 20

const tell = ({ output }: Context, { domain, verified, keys, json }: { domain: string; verified: Checked; keys: readonly string[] | undefined; json: boolean }): void => {
  const { events, items, differences, moving, points, still } = verified
  if (json) return output.line(JSON.stringify({ domain, events, items, keys: keys?.length ?? null, differences, moving, still, ...(points !== undefined && { points }) }))
  for (const difference of differences.slice(0, SHOWN)) output.line(describe(difference))
  if (differences.length > SHOWN) output.line(`and ${counted(differences.length - SHOWN, 'item')} more; --json tells all of them`)
  for (const difference of points?.differences.slice(0, SHOWN) ?? []) output.line(describePoint(difference))
  if (points !== undefined) output.line(`${domain}: ${counted(points.points, 'point')} compared, ${count(points.differences.length)} differ`)
  const verdict = `${domain}: ${counted(events, 'event')} folded${keys === undefined ? '' : ` of ${counted(keys.length, 'key')}`}, ${counted(items, 'item')} compared, ${count(differences.length)} differ`
  const changing = moving === 0 ? '' : `; ${count(moving)} changed at every comparison`
  const parked = still === 0 ? '' : `; ${counted(still, 'key')} ${still === 1 ? 'is' : 'are'} parked and compared up to the parked event, see: tributary parked`
  output.line(`${differences.length === 0 ? verdict : output.red(verdict)}${changing}${parked}`)
}

const describePoint = ({ kind, measure, dims, at, stored, folded }: PointDifference): string =>
  [`${kind} ${measure} of ${Object.values(dims).join(', ')} at ${new Date(at).toISOString()}`, ...(stored === undefined ? [] : [`  stored ${shown(stored)}`]), ...(folded === undefined ? [] : [`  folded ${shown(folded)}`])].join('\n')

/** What is stored, and what it should be; an item that is the same but for its position was last written by another event. */
const describe = ({ kind, PK, SK, stored, folded }: Difference): string => {
  const fields = fieldChanges(stored, folded).map(({ field, before, after }) => `  ${field}: ${kind === 'missing' ? shown(after) : kind === 'extra' ? shown(before) : `stored ${shown(before)}, folded ${shown(after)}`}`)
  const position = kind === 'changed' && stored?._pos !== folded?._pos ? [`  _pos: stored ${stored?._pos}, folded ${folded?._pos}`] : []
  return [`${kind} ${PK} ${SK}`, ...fields, ...position].join('\n')
}

const shown = (value: Value | undefined): string =>
  value === undefined ? '(none)' : JSON.stringify(value, (_, member: unknown) => (typeof member === 'bigint' ? String(member) : member))
