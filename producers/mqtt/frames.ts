import type { Socket } from 'node:net'

const LENGTH_BYTES = 4

/** Reads the lengths of MQTT packets from the chunks of a connection. The result returns false as soon as a packet declares more than `most` bytes. */
const createFrameMeter = (most: number): ((chunk: Buffer) => boolean) => {
  /** Bytes of the current packet's body that have not arrived. */
  let left = 0
  let length = 0
  /** Bytes of the packet's length that were read; -1 before a packet's first byte. */
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
 * Closes the socket and calls `tooLarge` when a packet declares more than `most` bytes. The broker's parser would buffer the whole packet,
 * so it receives nothing of one that is too large.
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
