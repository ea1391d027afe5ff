/** Lets at most `width` tasks run at once; the others wait in line. */
export type Gate = <T>(task: () => Promise<T>) => Promise<T>

export const createGate = (width: number): Gate => {
  const waiting: (() => void)[] = []
  let free = width
  return async (task) => {
    if (free > 0) free -= 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await task()
    } finally {
      const next = waiting.shift()
      if (next === undefined) free += 1
      else next()
    }
  }
}

/** Waits for all, so that nothing is still under way when the first fault is thrown. */
export const all = async <T>(tasks: readonly Promise<T>[]): Promise<T[]> => {
  const settled = await Promise.allSettled(tasks)
  return settled.map((one) => {
    if (one.status === 'rejected') throw one.reason
    return one.value
  })
}
