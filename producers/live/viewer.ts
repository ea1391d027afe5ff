import type { ItemChange } from '../../projections/changes.ts'
import { pages, type Reader } from '../../projections/table.ts'
import { cursorText, type Cursor, type LiveMessage, type LiveSpec, type Shown } from './spec.ts'

/** Where messages for one client go. */
export interface Sink {
  send(text: string): void
  /** Bytes that the client has not taken yet. */
  waiting(): number
  close(code: number, reason: string): void
}

export interface Generation {
  readonly generation: number
  readonly reader: Reader
}

/** One client and what it knows. */
export interface Viewer {
  readonly topic: string
  /** Everything, or what changed since a cursor; then whatever came meanwhile. */
  begin(from: Generation, since: Cursor | undefined): Promise<void>
  /** Changes of its topic, in order. */
  hear(changes: readonly ItemChange[], epoch: number): void
}

/** A gateway's bound for a message is 128 KB. */
const MESSAGE_BYTES = 100 * 1024
/** A client that lets more than this wait is too slow to be of use to itself. */
const MAX_WAITING = 1024 * 1024
const PAGE = 100

export const TOO_SLOW = 1013

export const createViewer = (spec: LiveSpec, topic: string, sink: Sink): Viewer => {
  let sent = new Map<string, number>()
  let version = -1
  /** What comes while the items are read; undefined when they have been. */
  let begun: Promise<void> = Promise.resolve()
  let meanwhile: { readonly changes: readonly ItemChange[]; readonly epoch: number }[] | undefined = []

  const say = (message: LiveMessage): void => {
    if (sink.waiting() > MAX_WAITING) sink.close(TOO_SLOW, 'too slow: what you did not take grew too large; come back with your cursor')
    else sink.send(JSON.stringify(message))
  }
  const isNews = (change: ItemChange): boolean => change.version > (sent.get(spec.nameOf(change)) ?? -1)
  const note = ({ key, version: at }: Shown): void => {
    sent.set(key, at)
    if (at > version) version = at
  }
  const tell = (changes: readonly ItemChange[], epoch: number): void => {
    const news = changes.filter(isNews).map((change) => shown(spec, change))
    if (news.length === 0) return
    news.forEach(note)
    for (const part of parts(news)) say({ type: 'changes', epoch, cursor: cursorText({ epoch, version }), changes: part })
  }
  const begin = async ({ generation: epoch, reader }: Generation, since: Cursor | undefined): Promise<void> => {
    meanwhile ??= []
    const items = await everything(spec, topic, reader)
    sent = new Map()
    version = -1
    items.forEach(note)
    const cursor = cursorText({ epoch, version })
    // Ahead of all that is there is the cursor of a removal, or none of ours: everything is right for both.
    if (since?.epoch === epoch && since.version <= version) say({ type: 'resumed', epoch, cursor, keys: items.map(({ key }) => key), changes: items.filter((item) => item.version > since.version) })
    else sayAll(items, (part, more) => say({ type: 'snapshot', epoch, cursor, items: part, ...(more && { more: true as const }) }))
    const waited = meanwhile
    meanwhile = undefined
    for (const heard of waited) if (heard.epoch === epoch) tell(heard.changes, epoch)
  }
  return {
    topic,
    // One after the other: a flip may ask for it while the first is being read.
    begin: (from, since) => (begun = begun.then(() => begin(from, since))),
    hear(changes, epoch) {
      if (meanwhile === undefined) tell(changes, epoch)
      else meanwhile.push({ changes, epoch })
    },
  }
}

const sayAll = (items: readonly Shown[], say: (part: readonly Shown[], more: boolean) => void): void => {
  const all = parts(items)
  all.forEach((part, index) => say(part, index < all.length - 1))
}

const shown = (spec: LiveSpec, { PK, SK, version, item, expired }: ItemChange): Shown => ({
  key: spec.nameOf({ PK, SK }),
  version,
  item: item === undefined ? null : spec.show(item),
  ...(expired && { expired }),
})

const everything = async (spec: LiveSpec, topic: string, reader: Reader): Promise<readonly Shown[]> => {
  const items: Shown[] = []
  for (const query of spec.partitions(topic)) {
    for await (const page of pages(reader, { ...query, limit: PAGE })) {
      for (const item of page) items.push(shown(spec, { PK: item.PK, SK: item.SK, version: Number(item['_pos'] ?? 0), item }))
    }
  }
  return items
}

/** Messages of a bounded size; one of nothing where there is nothing. */
const parts = (items: readonly Shown[]): readonly (readonly Shown[])[] => {
  const all: Shown[][] = [[]]
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
