/**
 * Converts a TON address to its raw form, `workchain:hex`. The raw form and all friendly forms of an address give the same result. Undefined if
 * the text is not an address.
 */
export const rawAddress = (text: string): string | undefined => {
  const raw = /^(-1|0):([0-9a-fA-F]{64})$/.exec(text)
  return raw === null ? fromFriendly(text) : `${raw[1] ?? ''}:${(raw[2] ?? '').toLowerCase()}`
}

const BOUNCEABLE = 0x11
const NON_BOUNCEABLE = 0x51
const TESTNET = 0x80

/** Reads a friendly address: a tag, the workchain, 32 bytes and a checksum, in base64 or base64url. */
const fromFriendly = (text: string): string | undefined => {
  if (!/^[A-Za-z0-9+/_-]{48}$/.test(text)) return undefined
  const bytes = Buffer.from(text, 'base64')
  const tag = bytes.readUInt8(0) & ~TESTNET
  const workchain = bytes.readInt8(1)
  if ((tag !== BOUNCEABLE && tag !== NON_BOUNCEABLE) || (workchain !== 0 && workchain !== -1)) return undefined
  return crc16(bytes.subarray(0, 34)) === bytes.readUInt16BE(34)
    ? `${workchain}:${bytes.toString('hex', 2, 34)}`
    : undefined
}

/** CRC-16 (XMODEM). */
const crc16 = (bytes: Buffer): number => {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) === 0 ? (crc << 1) & 0xffff : ((crc << 1) ^ 0x1021) & 0xffff
  }
  return crc
}
