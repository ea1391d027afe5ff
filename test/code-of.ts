import { isFault } from '../schemas/fault.ts'

/** Returns the code of the fault that `work` throws, or `none` if `work` returns. Throws any other error again. */
export const codeOf = (work: () => unknown): string => {
  try {
    work()
  } catch (error) {
    if (isFault(error)) return error.code
    throw error
  }
  return 'none'
}
