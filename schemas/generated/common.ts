// Generated from schemas/common/*.avsc by `npm run codegen`. Do not edit.
import type { Event } from '../event.ts'

/** The key of an item in its domain's table. */
export interface ItemName {
  readonly pk: string
  readonly sk: string
}

/** What a person called a token. */
export interface PatIssuedPersonal {
  readonly name: string
}

/** A sampled request: it stands for as many as its weight. */
export interface ApiUsageSampledData {
  /** UTC day, YYYY-MM-DD: quotas are per UTC day. */
  readonly date: string
  readonly reads: number
  readonly writes: number
  /** One in this many requests is sampled. */
  readonly weight: number
}

export type ApiUsageSampledPersonal = never

export type ApiUsageSampled = Event<'ApiUsageSampled', ApiUsageSampledData, ApiUsageSampledPersonal>

/** A personal access token was issued. */
export interface PatIssuedData {
  readonly patId: string
  /** SHA-256 of the whole token, hex. The token itself is never kept. */
  readonly hash: string
  /** read, write. */
  readonly scopes: readonly string[]
}

export type PatIssued = Event<'PatIssued', PatIssuedData, PatIssuedPersonal>

/** A personal access token was revoked. */
export interface PatRevokedData {
  readonly patId: string
}

export type PatRevokedPersonal = never

export type PatRevoked = Event<'PatRevoked', PatRevokedData, PatRevokedPersonal>

/** A personal access token was used; said at most once a day. */
export interface PatUsedData {
  readonly patId: string
  /** UTC day, YYYY-MM-DD. */
  readonly date: string
}

export type PatUsedPersonal = never

export type PatUsed = Event<'PatUsed', PatUsedData, PatUsedPersonal>

/** The person of meta.subjectId is forgotten: their key is being destroyed, and these items lose what is personal in them. */
export interface PersonForgottenData {
  /** Items of this log key that held something of that person when it was said. A fold cannot list; and each is written, whether it still holds anything or not, so that every replay writes the same. */
  readonly items: readonly ItemName[]
}

export type PersonForgottenPersonal = never

export type PersonForgotten = Event<'PersonForgotten', PersonForgottenData, PersonForgottenPersonal>

export type CommonEvent =
  | ApiUsageSampled
  | PatIssued
  | PatRevoked
  | PatUsed
  | PersonForgotten
