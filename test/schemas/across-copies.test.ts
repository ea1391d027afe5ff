import { expect, test } from 'vitest'
import { acrossCopies } from '../../schemas/across-copies.ts'

/** Declares the class again, as another copy of the package does. Returns the new class. */
const declare = () => {
  class Failure extends Error {}
  acrossCopies(Failure)
  return Failure
}

test('an object of a class is an object of the same class in another copy of the package', () => {
  const [Ours, Theirs] = [declare(), declare()]
  expect(Ours).not.toBe(Theirs)
  expect(new Theirs()).toBeInstanceOf(Ours)
  for (const value of [undefined, null, 'text', {}, new Error('text')]) expect(value instanceof Ours).toBe(false)
})

test('an object of the class is no object of a subclass', () => {
  const Failure = declare()
  class Special extends Failure {}
  expect(new Special()).toBeInstanceOf(Failure)
  expect(new Special()).toBeInstanceOf(Special)
  expect(new Failure()).not.toBeInstanceOf(Special)
})
