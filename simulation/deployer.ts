import type { StoredParked } from '../processors/engine/poison/parked-entry.ts'
import type { Scheduler } from './scheduler.ts'
import type { Workload } from './workload.ts'
import type { World } from './world.ts'

/** Deploys the releases of the workload, and requests retries of the parked keys that the deployed releases can heal. */
export interface Deployer {
  /** Deploys all remaining releases. */
  deployAll(): void
  /** Returns true if no key is parked that the last release can fold. */
  done(): boolean
}

const RETRY_MS = 2_000

/** The codes of parked keys that the last release can always fold: a fold threw, or the process died for a reason other than the event. */
const FOLDABLE = ['fold-threw', 'killed-the-process']

/**
 * Deploys each release at a random time, and at the latest when `deployAll` is called. Requests a retry of a key only after the release that
 * can heal the key is deployed.
 */
export const createDeployer = (world: World, scheduler: Scheduler, { domain, releases = [] }: Workload): Deployer => {
  const process = scheduler.spawn('deployer', 200_000, false)
  const { verdicts } = world.ports(process)
  const parkedWith = (codes: ReadonlySet<unknown>) =>
    world.tables
      .following(domain)
      .flatMap(({ generation, table }) =>
        [...table.items.values()]
          .filter((item) => item.PK.startsWith('PARKED#') && codes.has(item['code']))
          .map((item) => ({ generation, entry: item as StoredParked })),
      )
  const last = Math.max(0, releases.length - 1)
  const codesOf = (release: number) => [...(releases[release]?.codes ?? []), ...(release === last ? FOLDABLE : [])]
  const codes = new Set<unknown>()
  let next = 0
  let isRetrying = false

  const retryAll = async () => {
    for (;;) {
      for (const { generation, entry } of parkedWith(codes).filter(({ entry }) => !entry.retry)) {
        const retry = [[[{ put: { ...entry, retry: true, _pos: entry._pos + 1 }, expect: entry._pos }]]]
        await verdicts
          .clear(domain.name, entry)
          .then(() => world.store(process, generation).commit(retry))
          .catch(() => undefined)
      }
      await world.clock(process).sleep(RETRY_MS)
    }
  }
  const deployThrough = (through: number) => {
    for (; next <= through; next += 1) {
      scheduler.note('the next release is deployed')
      releases[next]?.deploy()
      for (const code of codesOf(next)) codes.add(code)
    }
    if (!isRetrying) void retryAll()
    isRetrying = true
  }
  for (let release = 0; release <= last; release += 1)
    scheduler.later(world.random.between(100, 20_000), () => deployThrough(release))
  const all = new Set<unknown>([...releases.flatMap((release) => release.codes), ...FOLDABLE])
  return { deployAll: () => deployThrough(last), done: () => parkedWith(all).length === 0 }
}
