import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BEARER_PREFIX, domainOfToken, hashToken, mintToken, TOKENS } from '../../../producers/access/pat.ts'
import { DOMAIN_NAME } from '../../../projections/domain-name.ts'

const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 })

test('a token contains its domain, 43 digits of secret and 6 of checksum', () =>
  fc.assert(
    fc.property(bytes, (random) => {
      const { token, hash } = mintToken('meals', () => random)
      expect(token).toMatch(/^trib_meals_[0-9A-Za-z]{49}$/)
      expect(domainOfToken(token)).toBe('meals')
      expect(hash).toBe(hashToken(token))
      expect(hash).toMatch(/^[0-9a-f]{64}$/)
    }),
  ))

test('a token can be for a domain with any name that a domain can have', () =>
  fc.assert(
    fc.property(bytes, fc.stringMatching(new RegExp(`^${DOMAIN_NAME}$`)), (random, domain) => {
      const { token } = mintToken(domain, () => random)
      expect(domainOfToken(token)).toBe(domain)
      expect(BEARER_PREFIX.exec(`Bearer ${token}`)?.[1]).toBe(domain)
      expect(`a ${token} b`.replace(TOKENS, 'hidden')).toBe('a hidden b')
    }),
  ))

test('two different secrets are two different tokens', () =>
  fc.assert(
    fc.property(bytes, bytes, (one, other) => {
      fc.pre(!Buffer.from(one).equals(Buffer.from(other)))
      expect(mintToken('meals', () => one).token).not.toBe(mintToken('meals', () => other).token)
    }),
  ))

test('a token with one changed character is recognised without a read of the store', () =>
  fc.assert(
    fc.property(bytes, fc.nat({ max: 59 }), fc.constantFrom(...'0Az_9'), (random, at, char) => {
      const { token } = mintToken('meals', () => random)
      fc.pre(token[at] !== char)
      expect(domainOfToken(token.slice(0, at) + char + token.slice(at + 1))).toBeUndefined()
    }),
  ))

test('a text that is not a token has no domain', () => {
  for (const text of ['', 'trib_meals_', 'x'.repeat(60), `trib_meals_${'0'.repeat(49)} `, 'ghp_abc'])
    expect(domainOfToken(text)).toBeUndefined()
})
