// Generated from schemas/common.avdl by `npm run codegen`. Do not edit.
import type { Event } from '../event.ts'

/** The key of an item in its domain's table. */
export interface ItemName {
  readonly pk: string
  readonly sk: string
}

/** The name that a person gave a token. */
export interface PatIssuedPersonal {
  readonly name: string
}

/** A sampled request. It counts as `weight` requests. */
export interface ApiUsageSampledData {
  /** UTC day, YYYY-MM-DD: quotas are per UTC day. */
  readonly date: string
  readonly reads: number
  readonly writes: number
  /** One in this many requests is sampled. */
  readonly weight: number
}

export type ApiUsageSampledPersonal = never

/** A sampled request. It counts as `weight` requests. */
export type ApiUsageSampled = Event<'ApiUsageSampled', ApiUsageSampledData, ApiUsageSampledPersonal>

/** A personal access token was issued. */
export interface PatIssuedData {
  readonly patId: string
  /** SHA-256 of the whole token, in hex. The token itself is never stored. */
  readonly hash: string
  /** read, write. */
  readonly scopes: readonly string[]
}

/** A personal access token was issued. */
export type PatIssued = Event<'PatIssued', PatIssuedData, PatIssuedPersonal>

/** A personal access token was revoked. */
export interface PatRevokedData {
  readonly patId: string
}

export type PatRevokedPersonal = never

/** A personal access token was revoked. */
export type PatRevoked = Event<'PatRevoked', PatRevokedData, PatRevokedPersonal>

/** A personal access token was used. Appended at most once per token and day. */
export interface PatUsedData {
  readonly patId: string
  /** UTC day, YYYY-MM-DD. */
  readonly date: string
}

export type PatUsedPersonal = never

/** A personal access token was used. Appended at most once per token and day. */
export type PatUsed = Event<'PatUsed', PatUsedData, PatUsedPersonal>

/** The person of meta.subjectId is forgotten. Their encryption key is destroyed, and the fold removes their personal data from these items. */
export interface PersonForgottenData {
  /** Items of this log key that contained personal data of the person when the event was appended. The event names them because a fold cannot list items. The fold writes each of them, changed or not, so that every replay writes the same items. */
  readonly items: readonly ItemName[]
}

export type PersonForgottenPersonal = never

/** The person of meta.subjectId is forgotten. Their encryption key is destroyed, and the fold removes their personal data from these items. */
export type PersonForgotten = Event<'PersonForgotten', PersonForgottenData, PersonForgottenPersonal>

/** The events that schemas/common.avdl declares. */
export type CommonEvent =
  | ApiUsageSampled
  | PatIssued
  | PatRevoked
  | PatUsed
  | PersonForgotten
