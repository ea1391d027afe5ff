import type { Socket } from 'node:net'

const LENGTH_BYTES = 4

/** Follows MQTT's framing over chunks: false as soon as a packet claims more than `most` bytes, before they are there. */
const createFrameMeter = (most: number): ((chunk: Buffer) => boolean) => {
  let left = 0
  let length = 0
  /** Bytes of the length that were read; -1 before a packet's first byte. */
  let digits = -1
  return (chunk) => {
    for (let at = 0; at < chunk.length; ) {
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

/** The broker's parser collects whatever a packet claims; so the socket gives it nothing of one that is too large. */
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
