/**
 * Lets `instanceof` also accept objects of the same class in another copy of this package. The package of a domain can have a copy of its
 * own, and its errors must have the same meaning there.
 */
export const acrossCopies = (type: { readonly name: string; readonly prototype: object }): void => {
  const mark = Symbol.for(`tributary.${type.name}`)
  Object.defineProperty(type.prototype, mark, { value: true })
  Object.defineProperty(type, Symbol.hasInstance, {
    // A subclass inherits this function but has no mark of its own, so it uses the normal check of `instanceof`.
    value(this: unknown, value: unknown): boolean {
      return this === type
        ? typeof value === 'object' && value !== null && mark in value
        : Function.prototype[Symbol.hasInstance].call(this, value)
    },
  })
}
