/** One environment variable: how its text becomes a value, and the value if it is unset. */
export interface Variable<T> {
  readonly parse: Parse<T>
  readonly fallback: T
  readonly secret?: true
  /** What the variable sets, in Markdown, for docs/configuration.md. */
  readonly about?: string
  /** What happens without the variable, if `fallback` is no value. */
  readonly unset?: string
}

/** Reads the text of a variable. Throws a Mistake for a text that it refuses. */
export type Parse<T> = (text: string) => T
/** Variables by name. */
export type Variables = Readonly<Record<string, Variable<unknown>>>
/** The values of variables, by name. */
export type Values<V extends Variables> = { readonly [N in keyof V]: ReturnType<V[N]['parse']> }

/** A mistake in one value. The message follows the name of the variable: what is wrong, and what it should look like. */
export class Mistake extends Error {}

/** Declares a variable. `parse` throws a Mistake for a text that it refuses; `fallback` is the value if the variable is not set. */
export const variable = <T>(parse: Parse<T>, fallback: T): Variable<T> => ({ parse, fallback })

/** Declares a variable whose value is hidden in logs and in the printed configuration. */
export const secret = (parse: Parse<string | undefined> = (text) => text): Variable<string | undefined> => ({
  parse,
  fallback: undefined,
  secret: true,
})

/** Parses an http or https address. */
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

/** Text of one form. The mistake does not show the value, because it can be a secret. */
export const formed =
  (pattern: RegExp, mistake: string): Parse<string | undefined> =>
  (value) => {
    if (pattern.test(value)) return value
    throw new Mistake(mistake)
  }
