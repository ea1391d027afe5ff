import { Fault } from '../schemas/fault.ts'

/** A value that only one domain can have, for example a route, and the name of its domain for error texts. */
interface OwnedValue {
  readonly value: string
  readonly owner: string
}

/** Throws the fault `bad-config` if two owners have the same value. `noun` names the kind of value in the error text. */
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
