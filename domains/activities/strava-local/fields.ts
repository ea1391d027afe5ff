/** Reads the members of the JSON body of a control request. Each function throws a sentence that names a wrong member. */

export type Members = Readonly<Record<string, unknown>>

export const membersOf = (body: unknown): Members => {
  if (body === undefined) return {}
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Members
  throw new Error('The body must be a JSON object.')
}

const wrong = (name: string, expected: string, value: unknown): Error =>
  new Error(`"${name}" must be ${expected}, not ${JSON.stringify(value)}.`)

export const numberOf = (members: Members, name: string, otherwise: number): number => {
  const value = members[name] ?? otherwise
  if (typeof value !== 'number' || !Number.isFinite(value)) throw wrong(name, 'a number', value)
  return value
}

export const textOf = (members: Members, name: string, otherwise: string): string => {
  const value = members[name] ?? otherwise
  if (typeof value !== 'string') throw wrong(name, 'a string', value)
  return value
}

export const flagOf = (members: Members, name: string, otherwise: boolean): boolean => {
  const value = members[name] ?? otherwise
  if (typeof value !== 'boolean') throw wrong(name, 'true or false', value)
  return value
}

export const choiceOf = <T extends string>(members: Members, name: string, choices: readonly T[], otherwise: T): T => {
  const value = members[name] ?? otherwise
  const choice = choices.find((one) => one === value)
  if (choice === undefined) throw wrong(name, `one of ${choices.join(', ')}`, value)
  return choice
}

/** An id: a string of digits. JSON numbers lose digits above 16. */
export const idOf = (members: Members, name: string): string | undefined => {
  const value = members[name]
  if (value === undefined) return undefined
  if (typeof value === 'string' && /^\d{1,19}$/.test(value)) return value
  throw wrong(name, 'a string of 1 to 19 digits', value)
}

export const textsOf = (members: Members, name: string): readonly string[] | undefined => {
  const value = members[name]
  if (value === undefined) return undefined
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value as readonly string[]
  throw wrong(name, 'a list of strings', value)
}

/** Epoch seconds of an ISO instant such as `2026-05-01T06:30:00Z`. */
export const secondsOf = (members: Members, name: string, otherwise: number): number => {
  const value = members[name]
  if (value === undefined) return otherwise
  const ms = typeof value === 'string' ? Date.parse(value) : NaN
  if (Number.isNaN(ms)) throw wrong(name, 'an ISO instant', value)
  return Math.floor(ms / 1000)
}
