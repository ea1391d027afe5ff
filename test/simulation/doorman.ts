import { keyOf } from '../../projections/item.ts'
import { goneTokens } from '../../projections/access/keys.ts'
import { tokenByHash } from '../../projections/access/queries.ts'
import type { Violation } from './checkers.ts'
import type { Scheduler } from './scheduler.ts'
import type { Workload } from './workload.ts'
import type { World } from './world.ts'

/** How a token of the simulated users is known to the index. */
export const hashOf = (user: string, patId: string): string => `${user}-${patId}`.padEnd(64, '0')

export const TOKENS = ['p1', 'p2', 'p3'] as const

/**
 * Somebody who tries tokens all along, through an index that may be late: a token whose revocation was folded before he asked
 * opens nothing, whatever the index says, and whoever of several nodes is still writing.
 */
export const startDoorman = (world: World, scheduler: Scheduler, { users, domain }: Pick<Workload, 'users' | 'domain'>): readonly Violation[] => {
  const violations: Violation[] = []
  if (users.length === 0) return violations
  const process = scheduler.spawn('doorman', 300_000, false)
  const clock = world.clock(process)
  const opens = async (generation: number, user: string, patId: string): Promise<boolean> => {
    const reader = world.store(process, generation).reader(clock.now)
    const key = await tokenByHash(reader, hashOf(user, patId))
    return key !== undefined && (await reader.get(key)) !== undefined
  }
  const round = async () => {
    const user = world.random.pick(users)
    const patId = world.random.pick(TOKENS)
    const { generation, table } = world.tables.serving(domain)
    const revoked = table.items.has(keyOf(goneTokens.key(user, patId)))
    const opened = await opens(generation, user, patId).catch(() => false)
    if (revoked && opened) violations.push({ checker: 'tokens', detail: `${patId} of ${user} was revoked and still opens` })
  }
  const rounds = async () => {
    for (let count = 0; count < 12; count++) {
      await clock.sleep(world.random.pick([3, 50, 1_000, 9_000]))
      await round()
    }
  }
  void rounds()
  return violations
}
