import type { Log } from '../processors/engine/ports/log.ts'
import type { Codec } from '../schemas/codec.ts'
import type { Event } from '../schemas/event.ts'

/** Appends events in batches of `size` events. If the codec seals personal data, first creates the missing keys of the people in a batch. */
export const appendAll = async (
  log: Pick<Log, 'append'>,
  codec: Codec,
  events: Iterable<Event>,
  size: number,
): Promise<void> => {
  let batch: Event[] = []
  const flush = async (): Promise<void> => {
    if (batch.length === 0) return
    await codec.keysFor?.(batch)
    await log.append(batch.map((event) => ({ key: event.meta.key, value: codec.encode(event) })))
    batch = []
  }
  for (const event of events) {
    batch.push(event)
    if (batch.length === size) await flush()
  }
  await flush()
}
