import type { Value } from '../../projections/item.ts'

/** Something to do outside, with the id under which it is the same thing if it comes twice. */
export interface Outgoing {
  readonly id: string
  readonly kind: string
  /** The log key of the event that caused it. */
  readonly key: string
  readonly body: Value
}

/** Where effects of one kind go: the port of everything outside that is told and not asked. */
export interface Receiver {
  /** The same id twice is one thing to it: what may have arrived is sent again. Otherwise it is reported, and a person decides. */
  readonly tellsDuplicatesApart: boolean
  /**
   * Resolves when it has arrived, and ends by itself within half a minute. Rejects with a retriable fault where nothing arrived,
   * with another fault where it will never be taken, and with anything else where nobody knows.
   */
  send(outgoing: Outgoing): Promise<void>
}

/** By the kind of effect. */
export type Receivers = Readonly<Record<string, Receiver | undefined>>
