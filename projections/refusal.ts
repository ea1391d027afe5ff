/**
 * The kind of a refusal. `missing`: the event names something that does not exist. `forbidden`: the actor of the event is not allowed to do
 * this. `conflict`: the current state does not allow the event. `invalid`: the content of the event breaks a rule in every state. `reused`:
 * the Idempotency-Key of the event belongs to another request.
 */
export type RefusalKind = 'missing' | 'forbidden' | 'conflict' | 'invalid' | 'reused'

/**
 * Every refusal code of a domain, by kind. A stored refusal contains its code and its detail. This list gives the
 * kind and the pointer of a code.
 */
export type Refusals = { readonly [K in RefusalKind]?: readonly string[] } & {
  /** JSON Pointers into the body of a request, by the codes that are about one field. */
  readonly pointers?: Readonly<Record<string, string>>
}

export type CodeIn<R extends Refusals> = NonNullable<R[keyof R & RefusalKind]>[number]

/** The refusals of the engine. They can occur in every domain. */
export const engineRefusals = {
  conflict: ['too-many-changes'],
  reused: ['idempotency-key-reused'],
} as const satisfies Refusals

/** The result of a fold that refuses its event. */
export interface Refused<Code extends string = string> {
  readonly refusal: { readonly code: Code; readonly detail: string }
}

/** Returns a function that creates the refusals of a domain, for example `refuse('meal-not-found', 'There is no meal m1.')`. */
export const refusing =
  <const R extends Refusals>(_refusals: R) =>
  <Code extends CodeIn<R>>(code: Code, detail: string): Refused<Code> => ({ refusal: { code, detail } })

const KINDS: readonly RefusalKind[] = ['missing', 'forbidden', 'conflict', 'invalid', 'reused']

/** The kind of a code. Undefined if none of the lists contains it. */
export const kindOf = (code: string, lists: readonly Refusals[]): RefusalKind | undefined =>
  KINDS.find((kind) => lists.some((list) => list[kind]?.includes(code)))

/** The JSON Pointer of the field that a code is about. Undefined if the code is not about one field. */
export const pointerOf = (code: string, lists: readonly Refusals[]): string | undefined =>
  lists.find(({ pointers }) => pointers?.[code] !== undefined)?.pointers?.[code]
