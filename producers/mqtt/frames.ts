import type { Socket } from 'node:net'

const LENGTH_BYTES = 4

/** Reads the lengths of MQTT packets from the chunks of a connection. The returned function is false if a packet declares more than `most` bytes. */
const createFrameMeter = (most: number): ((chunk: Buffer) => boolean) => {
  /** The number of bytes of the current packet's body that have not arrived yet. */
  let left = 0
  let length = 0
  /** The number of bytes of the length field that were read. -1 before the first byte of a packet. */
  let digits = -1
  return (chunk) => {
    for (let at = 0; at < chunk.length;) {
      if (left > 0) {
        const body = Math.min(left, chunk.length - at)
        left -= body
        at += body
        continue
      }
      const byte = chunk[at++] ?? 0
      if (digits >= 0) length += (byte & 127) * 128 ** digits
      digits += 1
      if (digits === 0 || byte >= 128) {
        if (digits >= LENGTH_BYTES) return false
        continue
      }
      if (length > most) return false
      ;[left, length, digits] = [length, 0, -1]
    }
    return true
  }
}

/**
 * Closes the socket and calls `tooLarge` when a packet declares more than `most` bytes. The broker's parser would buffer the whole packet, so
 * the parser does not receive the chunk that declares such a packet.
 */
export const boundFrames = (socket: Socket, most: number, tooLarge: () => void): void => {
  const admits = createFrameMeter(most)
  const read = socket.read.bind(socket)
  socket.read = (size?: number) => {
    const chunk = read(size) as Buffer | null
    if (chunk === null || admits(chunk)) return chunk
    tooLarge()
    socket.destroy()
    return null
  }
}
