import { refusing, type Refusals } from '../refusal.ts'

/** The code of every rule that can refuse an expenses event, by the kind of the refusal. */
export const expensesRefusals = {
  missing: ['group-not-found', 'member-not-found', 'invitation-not-found', 'expense-not-found', 'settlement-not-found'],
  forbidden: ['owner-only', 'members-only', 'invitation-only', 'payer-only', 'editor-only'],
  conflict: [
    'group-exists',
    'group-archived',
    'member-unknown',
    'member-left',
    'too-many-members',
    'too-many-invitations',
    'exponent-changed',
    'too-many-changes',
    'expense-deleted',
    'expense-not-deleted',
    'revision-stale',
    'settlement-to-self',
    'settlement-final',
    'transaction-claimed',
  ],
  invalid: [
    'group-invalid',
    'member-invalid',
    'invitation-invalid',
    'amount-invalid',
    'currency-unknown',
    'splits-mismatch',
    'too-many-beneficiaries',
    'expense-invalid',
    'settlement-invalid',
    'transaction-invalid',
  ],
  pointers: {
    'amount-invalid': '/amount',
    'currency-unknown': '/currency',
    'splits-mismatch': '/splits',
    'too-many-beneficiaries': '/splits',
    'revision-stale': '/revision',
    'invitation-only': '/invitation',
    'member-unknown': '/userId',
    'settlement-to-self': '/toUserId',
    'transaction-claimed': '/txHash',
  },
} as const satisfies Refusals

export const refuse = refusing(expensesRefusals)
