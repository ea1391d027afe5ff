import type { Random } from '../../simulation/random.ts'

export const USERS = ['ann', 'ben', 'constructor']

/** The ids that the workload has used for a group so far. Some of them exist in no item, because a fold refused the event. */
export interface GroupDraft {
  readonly group: string
  readonly expenses: { readonly id: string; payer: string; revision: number }[]
  readonly settlements: string[]
  readonly invitations: { readonly id: string; readonly hash: string }[]
}

/** The ids of a group, with the random generator and the time for the next event. */
export interface DrawContext extends GroupDraft {
  readonly random: Random
  readonly now: number
}
