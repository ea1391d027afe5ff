import { isFault } from '../schemas/fault.ts'

/** The code of the fault that the work ends in, or `none`. */
export const codeOf = (work: () => unknown): string => {
  try {
    work()
  } catch (error) {
    if (isFault(error)) return error.code
    throw error
  }
  return 'none'
}
