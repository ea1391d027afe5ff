/** The copies that are being made of an open database: one that is closed under a copy ends the process. */
export const createCopies = () => {
  let ended: Promise<unknown> = Promise.resolve()
  return {
    /** Settles when no copy is being made. */
    ended: (): Promise<unknown> => ended,
    add: <T>(copying: Promise<T>): Promise<T> => {
      ended = Promise.allSettled([ended, copying])
      return copying
    },
  }
}
