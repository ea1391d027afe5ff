import { keyOf } from '../projections/item.ts'
import { goneTokens } from '../projections/access/keys.ts'
import { tokenByHash } from '../projections/access/queries.ts'
import type { Violation } from './checkers.ts'
import type { Scheduler } from './scheduler.ts'
import type { Workload } from './workload.ts'
import type { World } from './world.ts'

/** The hash under which the index contains a token of a simulated user. */
export const tokenHashOf = (user: string, patId: string): string => `${user}-${patId}`.padEnd(64, '0')

export const TOKEN_IDS = ['p1', 'p2', 'p3'] as const

/**
 * Uses tokens during the run. A token must be rejected if its revocation was folded before the request, although the index can be stale and
 * several nodes write. Returns the list to which a violation is added for each revoked token that is accepted.
 */
export const startTokenProber = (
  world: World,
  scheduler: Scheduler,
  { users, domain }: Pick<Workload, 'users' | 'domain'>,
): readonly Violation[] => {
  const violations: Violation[] = []
  if (users.length === 0) return violations
  const process = scheduler.spawn('token-prober', 300_000, false)
  const clock = world.clock(process)
  const isAccepted = async (generation: number, user: string, patId: string): Promise<boolean> => {
    const reader = world.store(process, generation).reader(clock.now)
    const key = await tokenByHash(reader, tokenHashOf(user, patId))
    return key !== undefined && (await reader.get(key)) !== undefined
  }
  const probe = async () => {
    const user = world.random.pick(users)
    const patId = world.random.pick(TOKEN_IDS)
    const { generation, table } = world.tables.serving(domain)
    const revoked = table.items.has(keyOf(goneTokens.key(user, patId)))
    const accepted = await isAccepted(generation, user, patId).catch(() => false)
    if (revoked && accepted)
      violations.push({ checker: 'tokens', detail: `${patId} of ${user} is revoked, and was accepted` })
  }
  const probeAll = async () => {
    for (let count = 0; count < 12; count++) {
      await clock.sleep(world.random.pick([3, 50, 1_000, 9_000]))
      await probe()
    }
  }
  void probeAll()
  return violations
}
