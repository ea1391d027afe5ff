import { acrossCopies } from '../schemas/across-copies.ts'

/** One environment variable: how its text becomes a value, and the value if it is unset. */
export interface Variable<T> {
  readonly parse: Parse<T>
  readonly fallback: T
  readonly secret?: true
  /** A description of the variable in Markdown, for docs/configuration.md. */
  readonly about?: string
  /** The behaviour of the program if the variable is not set, for docs/configuration.md. Needed only if `fallback` is undefined. */
  readonly unset?: string
}

/** Reads the text of a variable. Throws a Mistake for a text that it refuses. */
export type Parse<T> = (text: string) => T
/** Variables by name. */
export type Variables = Readonly<Record<string, Variable<unknown>>>
/** The values of variables, by name. */
export type Values<V extends Variables> = { readonly [N in keyof V]: ReturnType<V[N]['parse']> }

/** A mistake in the value of a variable. The message names what is wrong and the correct form. It is printed after the name of the variable. */
export class Mistake extends Error {}
acrossCopies(Mistake)

/** Declares a variable. `parse` throws a Mistake for a text that it refuses; `fallback` is the value if the variable is not set. */
export const variable = <T>(parse: Parse<T>, fallback: T): Variable<T> => ({ parse, fallback })

/** Declares a variable whose value is hidden in logs and in the printed configuration. */
export const secret = (parse: Parse<string | undefined> = (text) => text): Variable<string | undefined> => ({
  parse,
  fallback: undefined,
  secret: true,
})

/** Parses an http or https URL without query, fragment and user name. Removes a slash at the end. */
export const url: Parse<string | undefined> = (text) => {
  const given = URL.canParse(text) ? new URL(text) : undefined
  if (
    given === undefined ||
    !/^https?:$/.test(given.protocol) ||
    given.search !== '' ||
    given.hash !== '' ||
    given.username !== ''
  )
    throw new Mistake('is not an http(s) URL without query; write for example https://api.example.com')
  return given.href.replace(/\/$/, '')
}

/** Parses text that matches the pattern. The error text is `mistake` and never contains the value, because the value can be a secret. */
export const formed =
  (pattern: RegExp, mistake: string): Parse<string | undefined> =>
  (value) => {
    if (pattern.test(value)) return value
    throw new Mistake(mistake)
  }
