/** Two lists in the same order, a page at a time. */
export interface Sides<T> {
  readonly left: AsyncIterable<readonly T[]>
  readonly right: AsyncIterable<readonly T[]>
  /** Below zero where the left one comes first, zero where they are the same one. */
  readonly order: (left: T, right: T) => number
  /** Every one once: with its like, or with nothing where the other side has none. */
  readonly pair: (left: T | undefined, right: T | undefined) => void
}

/** One pass over both. It waits only where a page ends: most of what is compared is compared without. */
export const sideBySide = async <T>({ left, right, order, pair }: Sides<T>): Promise<void> => {
  const [one, other] = [pagesOf(left), pagesOf(right)]
  for (;;) {
    const [any, anyOther] = [await one.more(), await other.more()]
    if (!any && !anyOther) return
    while (one.has() && other.has()) {
      const where = order(one.here(), other.here())
      pair(where <= 0 ? one.here() : undefined, where >= 0 ? other.here() : undefined)
      if (where <= 0) one.next()
      if (where >= 0) other.next()
    }
    if (!any) for (; other.has(); other.next()) pair(undefined, other.here())
    if (!anyOther) for (; one.has(); one.next()) pair(one.here(), undefined)
  }
}

/** `more` reads on when this page is read, and tells whether there is anything. */
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
