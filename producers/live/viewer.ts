import type { ItemChange } from '../../projections/changes.ts'
import { pages, type Reader } from '../../projections/table.ts'
import { cursorText, type Cursor, type LiveItem, type LiveMessage, type LiveSpec } from './spec.ts'

/** The outgoing side of one client's connection. */
export interface Sink {
  send(text: string): void
  /** Bytes that the client has not received yet. */
  waiting(): number
  close(code: number, reason: string): void
}

export interface Generation {
  readonly generation: number
  readonly reader: Reader
}

/** One client and the state that it has received. */
export interface Viewer {
  readonly topic: string
  /** Sends a snapshot, or the changes since the cursor. Then sends the changes that arrived in the meantime. */
  begin(from: Generation, since: Cursor | undefined): Promise<void>
  /** Sends changes of the topic. The caller must pass the changes in order. */
  push(changes: readonly ItemChange[], epoch: number): void
}

/** The maximum size of a message. Some gateways allow at most 128 KB. */
const MESSAGE_BYTES = 100 * 1024
/** A client with more unreceived bytes than this is disconnected. */
const MAX_WAITING = 1024 * 1024
const PAGE = 100

export const TOO_SLOW = 1013

export const createViewer = (spec: LiveSpec, topic: string, sink: Sink): Viewer => {
  /** The version of each item that the client has received. */
  let sent = new Map<string, number>()
  let version = -1
  let begun: Promise<void> = Promise.resolve()
  /** Changes that arrive while `begin` reads the items. Undefined afterwards. */
  let buffered: { readonly changes: readonly ItemChange[]; readonly epoch: number }[] | undefined = []

  const send = (message: LiveMessage): void => {
    if (sink.waiting() > MAX_WAITING)
      sink.close(TOO_SLOW, 'too slow: more than 1 MB waits for you. Connect again with your cursor')
    else sink.send(JSON.stringify(message))
  }
  const isNew = (change: ItemChange): boolean => change.version > (sent.get(spec.nameOf(change)) ?? -1)
  const markSent = ({ key, version: at }: LiveItem): void => {
    sent.set(key, at)
    if (at > version) version = at
  }
  const sendChanges = (changes: readonly ItemChange[], epoch: number): void => {
    const items = changes.filter(isNew).map((change) => liveItem(spec, change))
    if (items.length === 0) return
    items.forEach(markSent)
    for (const part of parts(items))
      send({ type: 'changes', epoch, cursor: cursorText({ epoch, version }), changes: part })
  }
  const begin = async ({ generation: epoch, reader }: Generation, since: Cursor | undefined): Promise<void> => {
    buffered ??= []
    const items = await readItems(spec, topic, reader)
    sent = new Map()
    version = -1
    items.forEach(markSent)
    // A cursor beyond the highest version belongs to a removed item, or was not created by this server. A snapshot is correct for both.
    const isResumable = since?.epoch === epoch && since.version <= version
    const messages = isResumable ? [resumed(items, { epoch, version }, since)] : snapshot(items, { epoch, version })
    messages.forEach(send)
    const meanwhile = buffered
    buffered = undefined
    for (const page of meanwhile) if (page.epoch === epoch) sendChanges(page.changes, epoch)
  }
  return {
    topic,
    // The calls run one after the other, because after a flip the hub can call `begin` again while the first call still reads.
    begin: (from, since) => (begun = begun.then(() => begin(from, since))),
    push(changes, epoch) {
      if (buffered === undefined) sendChanges(changes, epoch)
      else buffered.push({ changes, epoch })
    },
  }
}

const resumed = (items: readonly LiveItem[], current: Cursor, since: Cursor): LiveMessage => ({
  type: 'resumed',
  epoch: current.epoch,
  cursor: cursorText(current),
  keys: items.map(({ key }) => key),
  changes: items.filter((item) => item.version > since.version),
})

const snapshot = (items: readonly LiveItem[], current: Cursor): readonly LiveMessage[] =>
  parts(items).map((part, index, all) => ({
    type: 'snapshot',
    epoch: current.epoch,
    cursor: cursorText(current),
    items: part,
    ...(index < all.length - 1 && { more: true as const }),
  }))

const liveItem = (spec: LiveSpec, { PK, SK, version, item, expired }: ItemChange): LiveItem => ({
  key: spec.nameOf({ PK, SK }),
  version,
  item: item === undefined ? null : spec.show(item),
  ...(expired && { expired }),
})

const readItems = async (spec: LiveSpec, topic: string, reader: Reader): Promise<readonly LiveItem[]> => {
  const items: LiveItem[] = []
  for (const query of spec.partitions(topic)) {
    for await (const page of pages(reader, { ...query, limit: PAGE })) {
      for (const item of page)
        items.push(liveItem(spec, { PK: item.PK, SK: item.SK, version: Number(item['_pos'] ?? 0), item }))
    }
  }
  return items
}

/** Divides the items into messages of a bounded size. Without items: one empty message. */
const parts = (items: readonly LiveItem[]): readonly (readonly LiveItem[])[] => {
  const all: LiveItem[][] = [[]]
  let bytes = 0
  for (const item of items) {
    const size = JSON.stringify(item).length
    if (bytes + size > MESSAGE_BYTES && bytes > 0) {
      all.push([])
      bytes = 0
    }
    all.at(-1)?.push(item)
    bytes += size
  }
  return all
}
