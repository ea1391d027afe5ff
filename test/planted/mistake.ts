/** A mistake that somebody could make in an adapter, as a change of its source text. */
export interface Mistake {
  /** From the root of the repository. */
  readonly file: string
  /** Text that is in the file exactly once. */
  readonly find: string
  readonly replace: string
}

/** A mistake, and the test that must fail with it and pass without it. */
export interface Caught extends Mistake {
  /** The test's file, from the root of the repository. */
  readonly by: string
  /** A part of the test's full name that no other test of the file has. */
  readonly test: string
}

export type Mistakes = Readonly<Record<string, Caught>>
