/** A number of which JSON contains exactly this text: ids of 17 digits, and whole numbers with a decimal point. */
export class JsonNumber {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** Ids are strings in this service, because ids of 17 digits are larger than the largest exact double. */
export const idNumber = (id: string): JsonNumber => new JsonNumber(id)

/** Strava writes distances as floating point numbers, such as `28099.0`. */
export const floatNumber = (value: number): JsonNumber =>
  new JsonNumber(Number.isInteger(value) ? `${value}.0` : `${value}`)

/** JSON.stringify with `JsonNumber`. Leaves out members that are undefined. */
export const toJson = (value: unknown): string => {
  if (value instanceof JsonNumber) return value.text
  if (Array.isArray(value)) return `[${value.map((element: unknown) => toJson(element ?? null)).join(',')}]`
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([name, member]) => `${JSON.stringify(name)}:${toJson(member)}`)
      .join(',')}}`
  return JSON.stringify(value)
}
