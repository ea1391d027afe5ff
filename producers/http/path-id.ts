import type { Problem } from './problem.ts'
import type { Call } from './route.ts'

/** Reads an id from the path of a request. */
export interface PathId {
  /** The id. Throws the Problem of `missing` if the path contains no valid id. */
  (call: Pick<Call, 'params'>): string
  /** The Problem for an id that does not exist. */
  readonly missing: (id: string) => Problem
}

/** Declares a path parameter that contains an id. `isValid` checks the id before a key is built from it. */
export const pathId = (name: string, isValid: (id: string) => boolean, missing: (id: string) => Problem): PathId =>
  Object.assign(
    ({ params }: Pick<Call, 'params'>): string => {
      const id = params[name] ?? ''
      if (isValid(id)) return id
      throw missing(id)
    },
    { missing },
  )

/** The start of an id, for error texts. */
export const shown = (id: string): string => id.slice(0, 64)
