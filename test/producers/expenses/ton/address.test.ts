import { describe, expect, test } from 'vitest'
import { rawAddress } from '../../../../producers/expenses/ton/address.ts'

const RAW = '0:83dfd552e63729b472fcbcc8c45ebcc6691702558b68ec7527e1ba403a0f31a8'
const BOUNCEABLE = 'EQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqB2N'

describe('an account of TON', () => {
  test('is the same in all its written forms', () => {
    for (const form of [
      RAW,
      RAW.toUpperCase(),
      BOUNCEABLE,
      'UQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqEBI',
      'kQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqKYH',
      BOUNCEABLE.replaceAll('_', '/'),
    ])
      expect(rawAddress(form), form).toBe(RAW)
    expect(rawAddress(`-1:${'5'.repeat(64)}`)).toBe(`-1:${'5'.repeat(64)}`)
    expect(rawAddress('Ef8zMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzM0vF')).toBe(`-1:${'3'.repeat(64)}`)
  })

  test('is invalid if it is mistyped, cut, or something else', () => {
    for (const none of [
      '',
      'EQCD',
      BOUNCEABLE.replace('CD3', 'CE3'),
      BOUNCEABLE.slice(1),
      `${BOUNCEABLE}A`,
      RAW.slice(0, -1),
      `2:${'0'.repeat(64)}`,
      `0x${'0'.repeat(46)}`,
      'A'.repeat(48),
      'bob',
    ]) {
      expect(rawAddress(none), none).toBeUndefined()
    }
  })
})
