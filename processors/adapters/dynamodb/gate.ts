/** Runs at most `width` tasks at the same time. Further tasks wait and start in the order of their calls. */
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

/** Waits for all tasks, so that no task is still running when the first error is thrown. */
export const all = async <T>(tasks: readonly Promise<T>[]): Promise<T[]> => {
  const settled = await Promise.allSettled(tasks)
  return settled.map((result) => {
    if (result.status === 'rejected') throw result.reason
    return result.value
  })
}
