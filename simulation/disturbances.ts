import type { Domain } from '../projections/projection.ts'
import type { Coordinator } from './group-model.ts'
import type { Hooks } from './process.ts'
import { restore, type Table } from './store-model.ts'
import type { Tables } from './tables.ts'

type Backup = Pick<Table, 'items' | 'checkpoints'>

export interface DisturbanceParts {
  readonly coordinator: Coordinator
  readonly tables: Tables
  readonly domains: readonly Domain[]
  readonly embedded: boolean
  /** Kills every node and operator. Each of them starts again some time later. */
  readonly stopAll: () => void
}

/**
 * Carries out the faults that concern consumer groups and the tables of the first generations. Each fault also takes a backup of these tables.
 * A restore stops every process first, as docs/operating.md requires. Otherwise a process between two commits of a batch could move a
 * checkpoint past items that the restore removed.
 */
export const createDisturbances = ({
  coordinator,
  tables,
  domains,
  embedded,
  stopAll,
}: DisturbanceParts): Hooks['disturb'] => {
  const backupsByDomain = new Map<Domain, Backup[]>(domains.map((domain) => [domain, []]))
  return (kind, process, amount) => {
    const restores = kind === 'restore' && !embedded
    if (restores) stopAll()
    if (kind === 'rebalance') coordinator.rebalance(process)
    if (kind === 'rewind') coordinator.rewind(process, amount)
    for (const [{ table }, backups] of backupsByDomain) {
      const first = tables.of(table, 1)
      const backup = backups[Math.floor(amount * (backups.length + 1)) - 1]
      if (kind === 'forget') forget(first, backup)
      if (restores) restore(first, backup ?? { items: new Map(), checkpoints: new Map() })
      backups.push({ items: new Map(first.items), checkpoints: new Map(first.checkpoints) })
    }
  }
}

/** Sets the checkpoints back to those of the backup. If there is no backup, removes all checkpoints. */
const forget = (table: Table, backup: Backup | undefined) => {
  for (const [partition, now] of [...table.checkpoints]) {
    const offset = backup?.checkpoints.get(partition)
    if (offset === undefined) table.checkpoints.delete(partition)
    else table.checkpoints.set(partition, Math.min(now, offset))
  }
}
