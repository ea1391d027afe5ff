import { randomUUID } from 'node:crypto'
import { changeOf, changesTrimmed, type ChangeFeed, type ChangePage, type ItemChange } from '../../../projections/changes.ts'
import type { Write } from '../../engine/store.ts'

/** Changes that are kept for who comes back: minutes of a busy bar. */
const KEPT = 20_000

export interface Feed extends ChangeFeed {
  /** A write was accepted. */
  add(write: Write): void
}

/** The feed of a table that one process writes: kept in memory from the first follower on, and gone with the process. */
export const createFeed = (): Feed => {
  // A cursor of another life of the process is none of this one.
  const life = randomUUID().slice(0, 8)
  let kept: ItemChange[] = []
  /** The number of the first change that is kept. */
  let first = 0
  let watched = false
  let wake: () => void = () => {}
  let news = new Promise<void>((resolve) => (wake = resolve))

  const end = (): number => first + kept.length
  const add = (write: Write): void => {
    if (!watched) return
    kept.push('put' in write ? changeOf(write.put) : { PK: write.remove.PK, SK: write.remove.SK, version: write.expect, item: undefined })
    if (kept.length > 2 * KEPT) {
      first += kept.length - KEPT
      kept = kept.slice(-KEPT)
    }
    renew()
  }
  const renew = () => {
    wake()
    news = new Promise((resolve) => (wake = resolve))
  }
  const pageFrom = (at: number): ChangePage => ({ changes: kept.slice(at - first), cursor: `${life}.${end()}` })

  async function* follow({ after, signal }: Parameters<ChangeFeed['follow']>[0]): AsyncGenerator<ChangePage> {
    watched = true
    let at = after === undefined ? end() : placeOf(after, { life, first, end: end() })
    let page: ChangePage | undefined = pageFrom(at)
    // One listener for all the waiting: a follower stays for weeks.
    signal.addEventListener('abort', renew)
    try {
      while (!signal.aborted) {
        if (page !== undefined) yield page
        at = page === undefined ? at : Number(page.cursor.slice(life.length + 1))
        if (at < first) throw changesTrimmed()
        page = at === end() ? undefined : pageFrom(at)
        if (page === undefined && !signal.aborted) await news
      }
    } finally {
      signal.removeEventListener('abort', renew)
    }
  }
  return { add, follow }
}

const placeOf = (cursor: string, { life, first, end }: { readonly life: string; readonly first: number; readonly end: number }): number => {
  const [of, place] = cursor.split('.')
  const at = Number(place)
  if (of !== life || !Number.isInteger(at) || at < first || at > end) throw changesTrimmed()
  return at
}
