import { Fault, isFault } from '../../schemas/fault.ts'
import type { Stored } from '../../projections/item.ts'
import type { Domain } from '../../projections/projection.ts'
import { pages } from '../../projections/table.ts'
import type { Clock } from './clock.ts'
import type { Control } from './control.ts'
import { outboxPartition } from './keys.ts'
import type { Log } from './log.ts'
import { isLost } from './lost.ts'
import { isDerivedRow, type OutboxRow } from './outbox.ts'
import type { Workshop } from './rebuild.ts'
import { after, every, retrying } from './retry.ts'
import type { SeriesStores } from './series.ts'
import type { Store, Stores } from './store.ts'
import { ownerOf } from './turns.ts'

export interface DropParts {
  readonly domain: Pick<Domain, 'name' | 'table' | 'series'>
  readonly generation: number
  readonly control: Pick<Control, 'serving' | 'generations' | 'drop' | 'dropped'>
  readonly log: Pick<Log, 'removeGroup' | 'watermarks'>
  readonly stores: Pick<Stores, 'drop'>
  readonly series?: Pick<SeriesStores, 'drop'>
  readonly store: (generation: number) => Promise<Pick<Store, 'reader' | 'checkpoints'>>
  readonly workshop: Pick<Workshop, 'place' | 'lock' | 'clear'>
  /** Nothing in this process follows it or answers from it any more. */
  readonly letGo: () => Promise<void>
  readonly clock: Clock
  readonly timeoutMs: number
}

/** Every step can be repeated. Run the command again to finish a drop that was interrupted. */
export const dropGeneration = async (parts: DropParts): Promise<void> => {
  const { domain, generation, control, stores, workshop } = parts
  const listed = (await control.generations(domain.name)).find((each) => each.generation === generation)
  if (listed?.state === 'following') await refuseUnsent(parts)
  const lock = listed?.state === 'building' ? await workshop.lock(generation) : undefined
  try {
    // With the lock of this place, the holder that was listed here is dead.
    const { group } = await control.drop(domain.name, generation, lock !== undefined && listed?.lease?.place === workshop.place ? listed.lease.holder : undefined)
    await parts.letGo()
    await removeGroup(parts, group)
    await stores.drop(domain.table, generation)
    if (domain.series !== undefined) await parts.series?.drop(domain.series, generation)
    await workshop.clear?.(generation)
    await control.dropped(domain.name, generation)
  } finally {
    await lock?.release()
  }
}

/** Members of other processes may still be leaving the group. */
const removeGroup = ({ log, clock, timeoutMs }: DropParts, group: string): Promise<void> =>
  retrying(() => log.removeGroup(group), { clock, when: { error: (error) => isFault(error, 'group-active') }, until: after(clock, timeoutMs), pause: every(100) })

const PAGE = 100

/** A generation sends the outbox rows of its own turn, also after it has stopped serving. */
const refuseUnsent = async ({ domain, generation, control, store, log }: DropParts): Promise<void> => {
  const serving = await control.serving(domain.name)
  const turns = [serving, ...serving.before]
  if (turns.every((turn) => turn.generation !== generation)) return
  // Of one that is damaged or missing nothing can be sent any more.
  const reader = await store(generation).then((opened) => opened.reader(() => 0), (error: unknown) => {
    if (!isFault(error, 'data-damaged') && !isFault(error, 'table-missing')) throw error
  })
  if (reader === undefined || (await isLost(() => store(generation)))) return
  for (const { partition } of await log.watermarks()) {
    for await (const rows of pages(reader, { pk: outboxPartition(partition), limit: PAGE })) {
      const unsent = (rows as readonly (OutboxRow & Stored)[]).filter(isDerivedRow).find(({ _pos, projection, cause }) => ownerOf(turns, { partition, offset: _pos, projection, key: cause }) === generation)
      if (unsent === undefined) continue
      throw new Fault('outbox-not-empty', `Generation ${generation} of ${domain.name} still has something to send (${unsent.PK} / ${unsent.SK}). Run the sender, and drop the generation when the row is sent. If the sender reports record-too-large, raise the limit of the topic first.`)
    }
  }
}
