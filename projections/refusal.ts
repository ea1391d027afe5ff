/**
 * Why a rule refuses an event. `missing`: what it names does not exist. `forbidden`: its actor is not allowed to do this. `conflict`: the
 * current state does not allow it. `invalid`: its content breaks a rule, whatever the state.
 */
export type RefusalKind = 'missing' | 'forbidden' | 'conflict' | 'invalid'

/** Every code with which a domain refuses, by kind. A stored refusal contains its code and its detail; this gives its kind and its pointer. */
export type Refusals = { readonly [K in RefusalKind]?: readonly string[] } & {
  /** JSON Pointers into the body of a request, by the codes that are about one field. */
  readonly pointers?: Readonly<Record<string, string>>
}

export type CodeIn<R extends Refusals> = NonNullable<R[keyof R & RefusalKind]>[number]

export interface Refused {
  readonly refusal: { readonly code: string; readonly detail: string }
}

/** The refusals of a domain's folds: `refuse('meal-not-found', 'There is no meal m1.')`. */
export const refusing = <const R extends Refusals>(_refusals: R) => (code: CodeIn<R>, detail: string): Refused => ({ refusal: { code, detail } })

const KINDS: readonly RefusalKind[] = ['missing', 'forbidden', 'conflict', 'invalid']

/** The kind of a code; undefined if none of the lists names it. */
export const kindOf = (code: string, lists: readonly Refusals[]): RefusalKind | undefined => KINDS.find((kind) => lists.some((list) => list[kind]?.includes(code)))

/** The field that a code is about; undefined if it is not about one field. */
export const pointerOf = (code: string, lists: readonly Refusals[]): string | undefined => lists.find(({ pointers }) => pointers?.[code] !== undefined)?.pointers?.[code]
