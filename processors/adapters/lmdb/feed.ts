import { randomUUID } from 'node:crypto'
import {
  changeOf,
  changesTrimmed,
  type ChangeFeed,
  type ChangePage,
  type ItemChange,
} from '../../../projections/changes.ts'
import type { Write } from '../../engine/ports/store.ts'

/** The feed stores at least this number of the last changes, and at most twice as many, for followers that reconnect. */
const MAX_RECENT_CHANGES = 20_000

export interface Feed extends ChangeFeed {
  /** Adds an accepted write. */
  add(write: Write): void
}

/** The change feed of a table that one process writes. It stores changes in memory from the first follower on, until the process ends. */
export const createFeed = (): Feed => {
  // Part of each cursor, so the feed rejects cursors of an earlier process.
  const feedId = randomUUID().slice(0, 8)
  let changes: ItemChange[] = []
  /** The number of the first stored change. */
  let first = 0
  let isFollowed = false
  let wake: () => void = () => {}
  let nextChange = new Promise<void>((resolve) => (wake = resolve))

  const end = (): number => first + changes.length
  const add = (write: Write): void => {
    if (!isFollowed) return
    changes.push(
      'put' in write
        ? changeOf(write.put)
        : { PK: write.remove.PK, SK: write.remove.SK, version: write.expect, item: undefined },
    )
    if (changes.length > 2 * MAX_RECENT_CHANGES) {
      first += changes.length - MAX_RECENT_CHANGES
      changes = changes.slice(-MAX_RECENT_CHANGES)
    }
    wakeFollowers()
  }
  const wakeFollowers = () => {
    wake()
    nextChange = new Promise((resolve) => (wake = resolve))
  }
  const pageFrom = (number: number): ChangePage => ({
    changes: changes.slice(number - first),
    cursor: `${feedId}.${end()}`,
  })

  async function* follow({ after, signal }: Parameters<ChangeFeed['follow']>[0]): AsyncGenerator<ChangePage> {
    isFollowed = true
    let next = after === undefined ? end() : numberOfCursor(after, { feedId, first, end: end() })
    let page: ChangePage | undefined = pageFrom(next)
    // One listener for the whole loop: a follower can stay for weeks, and one listener per iteration would accumulate.
    signal.addEventListener('abort', wakeFollowers)
    try {
      while (!signal.aborted) {
        if (page !== undefined) yield page
        next = page === undefined ? next : Number(page.cursor.slice(feedId.length + 1))
        if (next < first) throw changesTrimmed()
        page = next === end() ? undefined : pageFrom(next)
        if (page === undefined && !signal.aborted) await nextChange
      }
    } finally {
      signal.removeEventListener('abort', wakeFollowers)
    }
  }
  return { add, follow }
}

/** Returns the change number in the cursor. Throws if the cursor belongs to another feed, or if the feed no longer stores this change. */
const numberOfCursor = (
  cursor: string,
  { feedId, first, end }: { readonly feedId: string; readonly first: number; readonly end: number },
): number => {
  const [id, text] = cursor.split('.')
  const number = Number(text)
  if (id !== feedId || !Number.isInteger(number) || number < first || number > end) throw changesTrimmed()
  return number
}
