import { parse, v5 } from 'uuid'

const NAMESPACE = v5('tributary.settlements', v5.DNS)
/** Crockford's base 32: no letter looks like a digit or another letter. */
const LETTERS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const LENGTH = 10

/** The comment that a TON payment must carry to complete a settlement: 50 bits of a hash of the ids of the group and the settlement. */
export const commentOf = (group: string, settlement: string): string => {
  const bytes = parse(v5(`${group}\u0000${settlement}`, NAMESPACE))
  // Uses the last seven bytes only: bytes before them contain the version and the variant of the UUID, which are constant.
  let bits = bytes.slice(9).reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
  let comment = ''
  for (let at = 0; at < LENGTH; at += 1) {
    comment += LETTERS.charAt(Number(bits & 31n))
    bits >>= 5n
  }
  return comment
}
