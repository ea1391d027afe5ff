import { type Argument, InvalidArgumentError, Option } from 'commander'

export const wholeNumber =
  (least: number, most = Infinity) =>
  (text: string): number => {
    const value = Number(text)
    if (!/^\d{1,12}$/.test(text) || value < least)
      throw new InvalidArgumentError(`Must be a whole number of at least ${least}.`)
    if (value > most) throw new InvalidArgumentError(`Must be at most ${most}.`)
    return value
  }

export const price = (text: string): number => {
  if (!/^\d{1,6}(\.\d{1,6})?$/.test(text)) throw new InvalidArgumentError('Must be an amount such as 0.625.')
  return Number(text)
}

export const json = (): Option => new Option('--json', 'print JSON, one object per line, in a stable form')

/** Returns the description of an option or argument, followed by its choices and its default. Commander itself would write them in another form. */
export const described = ({ description, argChoices, defaultValue }: Option | Argument): string => {
  const choices = argChoices === undefined ? [] : [`One of ${argChoices.join(', ')}`]
  const fallback = defaultValue === undefined || defaultValue === true ? [] : [`Default: ${String(defaultValue)}`]
  return [description, ...choices, ...fallback].filter((part) => part !== '').join('. ')
}
