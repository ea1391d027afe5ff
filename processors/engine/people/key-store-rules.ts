import { isNumberedPart } from '../../../projections/subject.ts'
import { Fault } from '../../../schemas/fault.ts'
import type { Person, Step } from '../ports/key-store.ts'
import type { Secret } from '../ports/secrets.ts'

/** Returns the entry of a person after a step. Returns undefined if the step changes nothing. All key stores use this function. */
export const afterStep = <P extends Omit<Person, 'key'> & { readonly key: { readonly id: string } | undefined }>(
  person: P,
  step: Step,
): P | undefined => {
  if (step === 'forgetting') return person.forgetting ? undefined : { ...person, forgetting: true }
  if (step === 'forgotten') return person.forgetting ? { ...person, forgetting: false } : undefined
  return person.key === undefined
    ? undefined
    : { ...person, forgetting: true, key: undefined, destroyed: [...person.destroyed, person.key.id] }
}

/** The result of a conditional write if there is no secret. */
export const NO_SECRET: Secret = { version: 0, value: '' }

export const keysCut = (where: string, { holds, least }: { readonly holds: number; readonly least: number }): Fault =>
  new Fault(
    'key-store-cut',
    `The key store ${where} has ${holds} bytes, but it had ${least} before: keys are missing at its end. Restore it from its newest backup, then start again. Nothing was changed.`,
  )

export const keysGone = (where: string): Fault =>
  new Fault(
    'key-store-gone',
    `The key store ${where} does not exist, and the personal data in these logs cannot be read without it. Restore it from its backup, then start again. Nothing was changed.`,
  )

/** The fault of a new key or secret for this subject. Undefined if the subject accepts them. */
export const refusalOf = (
  subject: string,
  person: { readonly forgetting: boolean; readonly destroyed: readonly unknown[] } | undefined,
): Fault | undefined => {
  if (person === undefined) return undefined
  if (isNumberedPart(subject) && (person.forgetting || person.destroyed.length > 0)) return partForgotten(subject)
  return person.forgetting ? beingForgotten(subject) : undefined
}

/** Throws the first of these faults that no retry can avoid, otherwise the first one. Undefined elements are no faults. */
export const throwFirst = (faults: readonly (Fault | undefined)[]): void => {
  const fault = faults.find((each) => each?.retriable === false) ?? faults.find((each) => each !== undefined)
  if (fault !== undefined) throw fault
}

const beingForgotten = (subject: string): Fault =>
  new Fault(
    'person-being-forgotten',
    `${subject} is being forgotten, and no personal data is accepted until that ends. Try again in a moment, or finish it: tributary forget --subject ID.`,
    { retriable: true },
  )

const partForgotten = (subject: string): Fault =>
  new Fault(
    'part-forgotten',
    `${subject} was forgotten, and a numbered part of a person accepts no data after that. Store new data under the next number.`,
  )
