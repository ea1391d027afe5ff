import type { Item, Key } from '../../../projections/item.ts'
import type { OwnItems } from '../../../projections/own-items.ts'
import type { Domain } from '../../../projections/projection.ts'
import { Fault } from '../../../schemas/fault.ts'

/** Refuses the items of other log keys by the domain's `partitions`. */
export const createOwnItems = ({ name, partitions: { keyIn } }: Pick<Domain, 'name' | 'partitions'>): OwnItems => {
  let lastPk: string | undefined
  let lastOwner: string | undefined
  /** The log key that the partition key determines. Keeps the last result, because the keys of a fold mostly have the same PK. */
  const ownerOf = (pk: string): string | undefined => {
    if (pk !== lastPk) [lastPk, lastOwner] = [pk, keyIn(pk)]
    return lastOwner
  }
  const ownerOfItem = (item: Item | undefined): string | undefined => item && keyIn(item.PK, item)
  const require = ({ PK, SK }: Key, logKey: string, owner: string | undefined): void => {
    if (owner === logKey) return
    throw new Fault(
      'foreign-item',
      `A fold of ${name} uses the item ${PK} ${SK} of ${owner === undefined ? 'no known log key' : `the log key "${owner}"`} for an event of the log key "${logKey}". A fold can only use items of the event's log key: correct the fold, or \`partitions.keyIn\` of ${name}.`,
    )
  }
  return {
    requireRead: (key, logKey, find) => require(key, logKey, ownerOf(key.PK) ?? ownerOfItem(find(key)) ?? logKey),
    requireWrite: (change, logKey, find) => {
      const owner = ownerOf(change.PK)
      require(change, logKey, owner ?? ownerOfItem(find(change)) ?? logKey)
      if (owner === undefined && !('_removed' in change)) require(change, logKey, ownerOfItem(change as Item))
    },
  }
}
