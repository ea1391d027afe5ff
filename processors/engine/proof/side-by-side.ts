/** Two sorted lists, page by page. */
export interface Sides<T> {
  readonly left: AsyncIterable<readonly T[]>
  readonly right: AsyncIterable<readonly T[]>
  /** Negative if the left entry comes first, 0 if both have the same key. */
  readonly order: (left: T, right: T) => number
  /** Receives each entry once, with the entry of the same key on the other side, or undefined if there is none. */
  readonly pair: (left: T | undefined, right: T | undefined) => void
}

/** Compares both lists in one pass. Awaits only at the end of a page, so most entries are compared without await. */
export const sideBySide = async <T>({ left, right, order, pair }: Sides<T>): Promise<void> => {
  const [lefts, rights] = [pagesOf(left), pagesOf(right)]
  for (;;) {
    const [hasLeft, hasRight] = [await lefts.more(), await rights.more()]
    if (!hasLeft && !hasRight) return
    while (lefts.has() && rights.has()) {
      const position = order(lefts.here(), rights.here())
      pair(position <= 0 ? lefts.here() : undefined, position >= 0 ? rights.here() : undefined)
      if (position <= 0) lefts.next()
      if (position >= 0) rights.next()
    }
    if (!hasLeft) for (; rights.has(); rights.next()) pair(undefined, rights.here())
    if (!hasRight) for (; lefts.has(); lefts.next()) pair(lefts.here(), undefined)
  }
}

/** `more` reads the next page if this page has no further entry. Resolves to false at the end of the list. */
const pagesOf = <T>(list: AsyncIterable<readonly T[]>) => {
  const pages = list[Symbol.asyncIterator]()
  let page: readonly T[] = []
  let index = 0
  let ended = false
  const has = () => index < page.length
  return {
    has,
    here: () => page[index] as T,
    next: () => void (index += 1),
    more: async (): Promise<boolean> => {
      while (!has() && !ended) {
        const { value, done } = await pages.next()
        ended = done === true
        page = ended ? [] : (value as readonly T[])
        index = 0
      }
      return has()
    },
  }
}
