interface Entry<T> {
  readonly at: number
  readonly rank: number
  readonly value: T
}

/** A queue that is ordered by time. Entries with equal times are ordered by their random rank. */
export interface Queue<T> {
  /** The time of the first entry. Undefined if the queue is empty. */
  next(): number | undefined
  push(at: number, rank: number, value: T): void
  pop(): { readonly at: number; readonly value: T } | undefined
}

const before = (a: Entry<unknown>, b: Entry<unknown>) => a.at < b.at || (a.at === b.at && a.rank < b.rank)

export const createQueue = <T>(): Queue<T> => {
  const heap: Entry<T>[] = []
  const at = (index: number) => heap[index] as Entry<T>
  const swap = (a: number, b: number) => {
    const entry = at(a)
    heap[a] = at(b)
    heap[b] = entry
  }
  const rise = (from: number) => {
    for (let child = from; child > 0;) {
      const parent = (child - 1) >> 1
      if (!before(at(child), at(parent))) return
      swap(child, parent)
      child = parent
    }
  }
  const sink = () => {
    for (let parent = 0; ;) {
      const left = 2 * parent + 1
      const right = left + 1
      let least = parent
      if (left < heap.length && before(at(left), at(least))) least = left
      if (right < heap.length && before(at(right), at(least))) least = right
      if (least === parent) return
      swap(parent, least)
      parent = least
    }
  }
  return {
    next: () => heap[0]?.at,
    push: (time, rank, value) => {
      heap.push({ at: time, rank, value })
      rise(heap.length - 1)
    },
    pop: () => {
      const top = heap[0]
      const last = heap.pop()
      if (top === undefined || last === undefined) return undefined
      if (heap.length > 0) {
        heap[0] = last
        sink()
      }
      return top
    },
  }
}
