import type { Result } from '../../projections/projection.ts'

/** Every rule that can refuse an expenses event. */
export type RefusalCode =
  | 'group-invalid' | 'group-exists' | 'group-not-found' | 'group-archived' | 'owner-only' | 'members-only'
  | 'member-invalid' | 'member-unknown' | 'member-left' | 'member-not-found' | 'too-many-members'
  | 'invitation-only' | 'invitation-invalid' | 'invitation-not-found' | 'too-many-invitations'
  | 'amount-invalid' | 'currency-unknown' | 'exponent-changed' | 'splits-mismatch' | 'too-many-beneficiaries' | 'too-many-changes'
  | 'expense-invalid' | 'expense-not-found' | 'expense-deleted' | 'expense-not-deleted' | 'revision-stale' | 'payer-only' | 'editor-only'
  | 'settlement-invalid' | 'settlement-to-self' | 'settlement-not-found' | 'settlement-final' | 'transaction-invalid' | 'transaction-claimed'

export const refuse = (code: RefusalCode, detail: string): Refused => ({ refusal: { code, detail } })

export type Refused = Required<Pick<Result, 'refusal'>>

export const noGroup = (group: string): Refused => refuse('group-not-found', `There is no group ${group}.`)

export const leftGroup = (user: string, group: string, leftAt: string): Refused => refuse('member-left', `${user} left group ${group} on ${leftAt.slice(0, 10)}.`)
