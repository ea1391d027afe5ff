/**
 * Tracks the running copies of an open database. LMDB ends the process if a database is closed during a copy. So the owner waits for `ended` before
 * it closes the database.
 */
export const createCopies = () => {
  let ended: Promise<unknown> = Promise.resolve()
  return {
    /** Settles when no copy is running. */
    ended: (): Promise<unknown> => ended,
    add: <T>(copying: Promise<T>): Promise<T> => {
      ended = Promise.allSettled([ended, copying])
      return copying
    },
  }
}
