/** A member of a JSON value of unknown shape. Undefined if the value has no such member. */
export const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined

/** A text member of a JSON value. An empty text if the value has no such member, or if the member is not a text. */
export const textMember = (value: unknown, name: string): string => {
  const text = memberOf(value, name)
  return typeof text === 'string' ? text : ''
}
