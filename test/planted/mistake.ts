/** A possible mistake in an adapter, as a change of its source text. */
export interface Mistake {
  /** The path from the root of the repository. */
  readonly file: string
  /** A text that the file contains exactly once. */
  readonly find: string
  readonly replace: string
}

/** A mistake, and the test that must fail with the mistake and pass without it. */
export interface Caught extends Mistake {
  /** The path of the test file from the root of the repository. */
  readonly by: string
  /** A part of the test's full name. No other test of the file has it in its name. */
  readonly test: string
}

export type Mistakes = Readonly<Record<string, Caught>>
