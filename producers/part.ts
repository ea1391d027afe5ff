/** A member of what others sent, whatever it is; undefined where there is none. */
export const part = (value: unknown, name: string): unknown => (typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined)

export const textIn = (value: unknown, name: string): string => {
  const text = part(value, name)
  return typeof text === 'string' ? text : ''
}
