import type { StoredParked } from '../../processors/engine/parking.ts'
import type { Scheduler } from './scheduler.ts'
import type { Workload } from './workload.ts'
import type { World } from './world.ts'

/** The people who bring the next releases and request that parked keys are retried. */
export interface Mender {
  /** Brings every release that is still missing. */
  mend(): void
  /** No key is parked that the last release can fold. */
  done(): boolean
}

const ASK_MS = 2_000

/** Parked by a fold that threw, or by a process that died for another reason: the last release folds these keys. */
const MENDED = ['fold-threw', 'killed-the-process']

/** Each release comes at a time of its own in the middle of the run, or at the latest when `mend` is called. Only then are its keys retried. */
export const createMender = (world: World, scheduler: Scheduler, { domain, mends = [] }: Workload): Mender => {
  const process = scheduler.spawn('mender', 200_000, false)
  const { marks } = world.ports(process)
  const waiting = (codes: ReadonlySet<unknown>) => world.tables.following(domain).flatMap(({ generation, table }) =>
    [...table.items.values()].filter((item) => item.PK.startsWith('PARKED#') && codes.has(item['code'])).map((item) => ({ generation, entry: item as StoredParked })))
  const last = Math.max(0, mends.length - 1)
  const codesOf = (release: number) => [...(mends[release]?.codes ?? []), ...(release === last ? MENDED : [])]
  const codes = new Set<unknown>()
  let next = 0
  let asking = false

  const ask = async () => {
    for (;;) {
      for (const { generation, entry } of waiting(codes).filter((one) => !one.entry.retry)) {
        const retry = [[[{ put: { ...entry, retry: true, _pos: entry._pos + 1 }, expect: entry._pos }]]]
        await marks.clear(domain.name, entry).then(() => world.store(process, generation).commit(retry)).catch(() => undefined)
      }
      await world.clock(process).sleep(ASK_MS)
    }
  }
  const bring = (through: number) => {
    for (; next <= through; next += 1) {
      scheduler.note('the next release is here')
      mends[next]?.bring()
      for (const code of codesOf(next)) codes.add(code)
    }
    if (!asking) void ask()
    asking = true
  }
  for (let release = 0; release <= last; release += 1) scheduler.later(world.random.between(100, 20_000), () => bring(release))
  const all = new Set<unknown>([...mends.flatMap((one) => one.codes), ...MENDED])
  return { mend: () => bring(last), done: () => waiting(all).length === 0 }
}
