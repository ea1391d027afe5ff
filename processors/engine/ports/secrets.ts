/** A secret of a person, such as the token of an outside service. */
export interface Secret {
  /** Begins with 1, and increases by 1 with each write. */
  readonly version: number
  readonly value: string
}

/** The secrets of people, in the key store. They are wrapped like data keys, and destroyed with the data key of their person. */
export interface Secrets {
  read(subject: string, name: string): Promise<Secret | undefined>
  /**
   * Stores the value as version `expect + 1`, if the stored version is `expect` (0: there is no secret). Resolves when it is on disk, to
   * undefined, or to the stored secret if its version is another one (`version: 0`: there is none). Faults: `person-being-forgotten`
   * (retriable); `part-forgotten`: a numbered part was forgotten, and accepts no data any more.
   */
  write(
    subject: string,
    name: string,
    next: { readonly expect: number; readonly value: string },
  ): Promise<Secret | undefined>
  /** Erases the secret. No effect if there is none. */
  drop(subject: string, name: string): Promise<void>
}
