import type { Key } from '../../../projections/item.ts'
import { Fault } from '../../../schemas/fault.ts'
import type { Founding, KeyStore } from '../ports/key-store.ts'
import { replacing, type Store } from '../ports/store.ts'
import { changeRow } from '../rows/change-row.ts'

/** The row in the control table that identifies the key store. */
const KEYS: Key = { PK: 'KEYS', SK: 'KEYS' }

export interface KeyStoreOpening {
  /**
   * Opens the key store. If there is none and `found` is given, creates it. Faults: `key-store-gone` if there is none and `found` is not
   * given; `key-store-cut` if the store has less than `least` bytes.
   */
  open(found?: () => Promise<Founding>, least?: number): Promise<KeyStore>
  /** Returns the founding record for a new key store. Absent: creates no key store and writes no row. */
  readonly found?: () => Promise<Founding>
}

/**
 * Opens the key store of these logs. The control table records its id and its size, so that a lost or shortened key store is not replaced
 * by a new one. Fault `key-store-other` if the id differs.
 */
export const openKnownKeys = async (
  control: Pick<Store, 'load' | 'commit'>,
  { open, found }: KeyStoreOpening,
): Promise<KeyStore> => {
  const [row] = await control.load([KEYS])
  const keys = await open(row === undefined ? found : undefined, Number(row?.['extent'] ?? 0))
  const { id } = keys.founding
  if (row !== undefined && row['id'] !== id) {
    await keys.close()
    throw new Fault(
      'key-store-other',
      `The key store has the id ${id}, but these logs were sealed with ${String(row['id'])}. Restore that key store. Nothing was changed.`,
    )
  }
  if (found === undefined) return keys
  if (row === undefined) await control.commit([[[replacing(undefined, { ...KEYS, id })]]])
  return keys.extent === undefined ? keys : recordingExtent(keys, keys.extent, control)
}

/** Records the size after each growth, so that the recorded size is never larger than the store. */
const recordingExtent = (keys: KeyStore, extent: () => number, control: Pick<Store, 'load' | 'commit'>): KeyStore => {
  let recording: Promise<unknown> = Promise.resolve()
  let recorded = 0
  const record = (): void => {
    if (recorded === extent()) return
    recorded = extent()
    recording = recording
      .then(() => changeRow(control, KEYS, (row) => row && { ...row, extent: extent() }))
      .catch(() => undefined)
  }
  record()
  return {
    ...keys,
    ensureKeys: async (people) => {
      const entries = await keys.ensureKeys(people)
      record()
      return entries
    },
    secrets: {
      ...keys.secrets,
      write: async (...secret) => {
        const other = await keys.secrets.write(...secret)
        record()
        return other
      },
    },
    close: async () => {
      await recording
      await keys.close()
    },
  }
}
