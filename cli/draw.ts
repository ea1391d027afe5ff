import { createHash, randomUUID } from 'node:crypto'
import type { Log } from '../processors/engine/ports/log.ts'
import { drawKeys } from '../processors/engine/proof/sample.ts'

/** Returns at most `count` keys of the log, chosen at random. Each run chooses other keys. */
export const draw = (log: Pick<Log, 'read' | 'watermarks'>, count: number): Promise<readonly string[]> => {
  const salt = randomUUID()
  return drawKeys(log, count, (key) => createHash('sha256').update(salt).update(key).digest().readUInt32BE())
}
