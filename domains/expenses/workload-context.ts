import type { Random } from '../../simulation/random.ts'

export const USERS = ['ann', 'ben', 'constructor']

/** The ids of a group that the workload has drawn so far. The folds can refuse their events. */
export interface GroupDraft {
  readonly group: string
  readonly expenses: { readonly id: string; payer: string; revision: number }[]
  readonly settlements: string[]
  readonly invitations: { readonly id: string; readonly hash: string }[]
}

/** A group draft, with the random numbers and the time for the next event. */
export interface DrawContext extends GroupDraft {
  readonly random: Random
  readonly now: number
}
