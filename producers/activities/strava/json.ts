/** Finds every string and every number in a JSON text. */
const TOKENS = /"(?:[^"\\]|\\.)*(?:"|$)|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
/** A double keeps every whole number of 15 digits. */
const LONG = /^-?\d{16,}$/

/**
 * Parses JSON of Strava. Whole numbers of 16 digits or more become text, because a double would change their last digits. Ids of Strava have up
 * to 17 digits. Throws a SyntaxError if the text is not JSON.
 */
export const parseStravaJson = (text: string): unknown =>
  JSON.parse(text.replace(TOKENS, (token) => (LONG.test(token) ? `"${token}"` : token)))

const ID = /^[1-9]\d{0,18}$/

/** The digits of an id that `parseStravaJson` read. Undefined if the value is not a positive whole number of at most 19 digits. */
export const stravaId = (value: unknown): string | undefined => {
  const digits = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value
  return typeof digits === 'string' && ID.test(digits) ? digits : undefined
}
