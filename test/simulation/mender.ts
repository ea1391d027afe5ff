import type { StoredParked } from '../../processors/engine/parking.ts'
import type { Scheduler } from './scheduler.ts'
import type { Workload } from './workload.ts'
import type { World } from './world.ts'

/** The people who bring the next release and ask for what was parked to be tried again. */
export interface Mender {
  mend(): void
  /** Nothing that this release could fold stands still. */
  done(): boolean
}

const ASK_MS = 2_000

/** What the next release folds, and what several died over who did not die of it. */
const MENDED: ReadonlySet<unknown> = new Set(['fold-threw', 'killed-the-process'])

/** At a time of its own, in the middle of what is going on, or at the latest when told to. */
export const createMender = (world: World, scheduler: Scheduler, { domain, mend: release }: Workload): Mender => {
  const process = scheduler.spawn('mender', 200_000, false)
  const { marks } = world.ports(process)
  const waiting = () => world.tables.following(domain).flatMap(({ generation, table }) =>
    [...table.items.values()].filter((item) => item.PK.startsWith('PARKED#') && MENDED.has(item['code'])).map((item) => ({ generation, entry: item as StoredParked })))
  let mended = false

  const ask = async () => {
    for (;;) {
      for (const { generation, entry } of waiting().filter((one) => !one.entry.retry)) {
        const retry = [[[{ put: { ...entry, retry: true, _pos: entry._pos + 1 }, expect: entry._pos }]]]
        await marks.clear(domain.name, entry).then(() => world.store(process, generation).commit(retry)).catch(() => undefined)
      }
      await world.clock(process).sleep(ASK_MS)
    }
  }
  const mend = () => {
    if (mended) return
    mended = true
    scheduler.note('the next release is here')
    release?.()
    void ask()
  }
  scheduler.later(world.random.between(100, 20_000), mend)
  return { mend, done: () => waiting().length === 0 }
}
