import { Fault, isFault } from '../../../schemas/fault.ts'
import type { Stored } from '../../../projections/item.ts'
import type { Domain } from '../../../projections/projection.ts'
import { pages } from '../../../projections/table.ts'
import type { Clock } from '../ports/clock.ts'
import type { Control } from './control.ts'
import type { Log } from '../ports/log.ts'
import type { LogAdmin } from '../ports/log-admin.ts'
import { isLost } from './lost.ts'
import { isDerivedRow, type OutboxRow } from '../outgoing/outbox.ts'
import type { BuildPlace } from './claim.ts'
import { after, every, retrying } from '../timing/retry.ts'
import type { SeriesStores } from '../ports/series.ts'
import type { Store, Stores } from '../ports/store.ts'
import { senderOf } from '../outgoing/serving-periods.ts'
import { outboxPartition } from '../outgoing/keys.ts'

export interface DropParts {
  readonly domain: Pick<Domain, 'name' | 'table' | 'series'>
  readonly generation: number
  readonly control: Pick<Control, 'serving' | 'generations' | 'drop' | 'dropped'>
  readonly log: Pick<Log, 'watermarks'>
  readonly admin: Pick<LogAdmin, 'removeGroup'>
  readonly stores: Pick<Stores, 'drop'>
  readonly series?: Pick<SeriesStores, 'drop'>
  readonly store: (generation: number) => Promise<Pick<Store, 'reader' | 'checkpoints'>>
  readonly storage: BuildPlace & {
    /** Removes the files of the generation's build. */
    clear?(generation: number): Promise<void>
  }
  /** Closes the generation in this process: stops its processor and closes its stores. */
  readonly closeGeneration: () => Promise<void>
  readonly clock: Clock
  readonly timeoutMs: number
}

/**
 * Drops a generation: its row, its consumer group, its table and its points. Each step can be repeated, so a second call finishes an
 * interrupted drop.
 */
export const dropGeneration = async (parts: DropParts): Promise<void> => {
  const { domain, generation, control, stores, storage } = parts
  const listed = (await control.generations(domain.name)).find((each) => each.generation === generation)
  if (listed?.state === 'following') await refuseUnsent(parts)
  const lock = listed?.state === 'building' ? await storage.lock(generation) : undefined
  try {
    // If this process could take the lock, the holder that the control table lists for this place is dead. So the lease of this holder does
    // not prevent the drop.
    const { group } = await control.drop(
      domain.name,
      generation,
      lock !== undefined && listed?.lease?.place === storage.place ? listed.lease.holder : undefined,
    )
    await parts.closeGeneration()
    await removeGroup(parts, group)
    await stores.drop(domain.table, generation)
    if (domain.series !== undefined) await parts.series?.drop(domain.series, generation)
    await storage.clear?.(generation)
    await control.dropped(domain.name, generation)
  } finally {
    await lock?.release()
  }
}

/** Removes the consumer group. If the group still has members, waits for up to `timeoutMs` until they have left. */
const removeGroup = ({ admin, clock, timeoutMs }: DropParts, group: string): Promise<void> =>
  retrying(() => admin.removeGroup(group), {
    clock,
    when: { error: (error) => isFault(error, 'group-active') },
    until: after(clock, timeoutMs),
    pause: every(100),
  })

const PAGE = 100

/**
 * Throws `outbox-not-empty` if the generation must still send outbox rows. A generation sends the rows of its own serving periods, also
 * after a flip to another generation.
 */
const refuseUnsent = async ({ domain, generation, control, store, log }: DropParts): Promise<void> => {
  const serving = await control.serving(domain.name)
  const periods = [serving, ...serving.before]
  if (periods.every((period) => period.generation !== generation)) return
  // The outbox of a damaged or missing table is lost, so there are no rows to check.
  const reader = await store(generation).then(
    (opened) => opened.reader(() => 0),
    (error: unknown) => {
      if (!isFault(error, 'data-damaged') && !isFault(error, 'table-missing')) throw error
    },
  )
  if (reader === undefined || (await isLost(() => store(generation)))) return
  for (const { partition } of await log.watermarks()) {
    for await (const rows of pages(reader, { pk: outboxPartition(partition), limit: PAGE })) {
      const unsent = (rows as readonly (OutboxRow & Stored)[])
        .filter(isDerivedRow)
        .find(
          ({ _pos, projection, cause }) =>
            senderOf(periods, { partition, offset: _pos, projection, key: cause }) === generation,
        )
      if (unsent === undefined) continue
      throw new Fault(
        'outbox-not-empty',
        `Generation ${generation} of ${domain.name} has a row that is not sent yet (${unsent.PK} / ${unsent.SK}). Run the sender, and drop the generation when the row is sent. If the sender reports record-too-large, raise the limit of the topic first.`,
      )
    }
  }
}
