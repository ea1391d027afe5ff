// Generated from schemas/common/*.avsc by `npm run codegen`. Do not edit.
import type { Event } from '../event.ts'

/** The key of an item in its domain's table. */
export interface ItemName {
  readonly pk: string
  readonly sk: string
}

/** The person of meta.subjectId is forgotten: their key is being destroyed, and these items lose what is personal in them. */
export interface PersonForgottenData {
  /** Items of this log key that held something of that person when it was said. A fold cannot list; and each is written, whether it still holds anything or not, so that every replay writes the same. */
  readonly items: readonly ItemName[]
}

export type PersonForgottenPersonal = never

export type PersonForgotten = Event<'PersonForgotten', PersonForgottenData, PersonForgottenPersonal>

export type CommonEvent =
  | PersonForgotten
