import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseBody } from '../../../producers/http/json.ts'
import { Problem } from '../../../producers/http/problem.ts'

const codeOf = (body: string | Uint8Array): string => {
  try {
    parseBody(Buffer.from(body as string))
  } catch (error) {
    if (error instanceof Problem) return error.code
    throw error
  }
  return 'accepted'
}

describe('a body is refused with a stable code', () => {
  const refused: readonly (readonly [what: string, body: string | Uint8Array, code: string])[] = [
    ['what is not JSON', '{"a":', 'malformed-json'],
    ['NaN', '{"a":NaN}', 'malformed-json'],
    ['Infinity', '{"a":Infinity}', 'malformed-json'],
    ['a byte order mark', '\ufeff{}', 'malformed-json'],
    ['1e400', '{"a":1e400}', 'number-not-finite'],
    ['5e-324', '{"a":5e-324}', 'number-too-small'],
    ['1 after 120 zeros', `{"a":0.${'0'.repeat(120)}1}`, 'number-too-small'],
    ['-1e400', '[-1e400]', 'number-not-finite'],
    ['-0', '{"a":-0}', 'negative-zero'],
    ['-0.0', '{"a":[-0.0]}', 'negative-zero'],
    ['a number too small to be told from -0', '{"a":-1e-400}', 'negative-zero'],
    ['a number with more digits than can be held', '{"a":1.000000000000000001}', 'number-too-precise'],
    ['a long whole number', '{"a":123456789012345678}', 'number-too-precise'],
    ['a field given twice', '{"a":1,"a":2}', 'duplicate-field'],
    ['a field given twice, spelled differently', '{"a":1,"\\u0061":2}', 'duplicate-field'],
    ['__proto__', '{"__proto__":{"x":1}}', 'forbidden-name'],
    ['constructor', '{"a":{"constructor":1}}', 'forbidden-name'],
    ['prototype', '{"prototype":1}', 'forbidden-name'],
    ['a name that is forbidden, spelled differently', '{"\\u005f_proto__":1}', 'forbidden-name'],
    ['1 with 400 zeros', `{"a":1${'0'.repeat(400)}}`, 'number-not-finite'],
    ['a delete character', '{"a":"\u007f"}', 'control-character'],
    ['a backspace', '{"a":"\\b"}', 'control-character'],
    ['bytes that are not UTF-8', Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'bad-utf8'],
    ['an overlong encoding', Uint8Array.from([0x22, 0xc0, 0x80, 0x22]), 'bad-utf8'],
    ['a surrogate encoded as UTF-8', Uint8Array.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 'bad-utf8'],
    ['half a character', '{"a":"\\ud800"}', 'lone-surrogate'],
    ['half a character in a name', '{"\\udc00":1}', 'lone-surrogate'],
    ['a zero character', '{"a":"\\u0000"}', 'control-character'],
    ['an escape character', '{"a":"\\u001b[31m"}', 'control-character'],
    ['300 levels of arrays', '['.repeat(300) + ']'.repeat(300), 'too-deep'],
    ['300 levels of objects', '{"a":'.repeat(300) + '1' + '}'.repeat(300), 'too-deep'],
    ['30,000 levels that never close', '['.repeat(30_000), 'too-deep'],
  ]
  test.each(refused)('%s', (_what, body, code) => expect(codeOf(body)).toBe(code))
})

test('an empty body is no body', () => expect(parseBody(Buffer.alloc(0))).toBeUndefined())

test('32 levels are not too deep', () => expect(codeOf('['.repeat(32) + ']'.repeat(32))).toBe('accepted'))

test('brackets, colons and digits inside texts are not counted', () =>
  expect(codeOf('{"a":"[[[{{{:::\\"[[ 12345678901234567890 \\\\","b":"\\\\\\""}')).toBe('accepted'))

test('no message contains content of the body', () => {
  for (const body of ['{"password": hunter2}', 'hunter2', '{"hunter2":"\\u0001"']) {
    expect(() => parseBody(Buffer.from(body))).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining('hunter2') }),
    )
  }
})

const plain = fc
  .string({ unit: 'grapheme' })
  .filter((text) => !/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\p{Cs}]/u.test(text))
const names = plain.filter((name) => !['__proto__', 'constructor', 'prototype'].includes(name))
const numbers = fc
  .oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }))
  .filter((number) => !Object.is(number, -0) && (number === 0 || Math.abs(number) >= 1e-100))
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small' },
    plain,
    numbers,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('tree'), { maxLength: 5 }),
    fc.dictionary(names, tie('tree'), { maxKeys: 5 }),
  ),
}))

test('the output of any JSON writer is read without changes', () =>
  fc.assert(
    fc.property(tree, fc.boolean(), (value, spaced) => {
      expect(JSON.stringify(parseBody(Buffer.from(JSON.stringify(value, null, spaced ? 2 : undefined))))).toBe(
        JSON.stringify(value),
      )
    }),
    { numRuns: 2_000 },
  ))
