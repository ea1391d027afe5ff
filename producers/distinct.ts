import { Fault } from '../schemas/fault.ts'

/** Something that only one domain can have, and who has it, for error texts. */
interface OwnedValue {
  readonly value: string
  readonly owner: string
}

/** Fault: `bad-config` if two owners have the same value. */
export const requireDistinct = (noun: string, values: readonly OwnedValue[]): void => {
  for (const [index, { value, owner }] of values.entries()) {
    const earlier = values.slice(0, index).find((each) => each.value === value)
    if (earlier !== undefined)
      throw new Fault(
        'bad-config',
        `Both ${earlier.owner} and ${owner} have the ${noun} ${value}. Change it in the record of one of them, or select only one in TRIBUTARY_DOMAINS.`,
      )
  }
}

export const ownerOf = ({ name }: { readonly name: string }): string => `the domain ${name}`
