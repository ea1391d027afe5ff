/** A mistake that somebody could make in an adapter, as a change of its source text. */
export interface Mistake {
  /** From the root of the repository. */
  readonly file: string
  /** Text that is in the file exactly once. */
  readonly find: string
  readonly replace: string
}
