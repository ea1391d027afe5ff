import type { Log } from '../ports/log.ts'

/** The next offset of each partition. A missing partition is at offset 0. */
export type Positions = ReadonlyMap<number, number>

/** The present ends of the log. */
export const endsOf = async (log: Pick<Log, 'watermarks'>): Promise<Positions> =>
  new Map((await log.watermarks()).map(({ partition, high }) => [partition, high]))

/** The number of events before these positions. */
export const totalOf = (positions: Positions): number =>
  [...positions.values()].reduce((sum, position) => sum + position, 0)

/** The number of events between the positions and the ends. */
export const missingTo = (ends: Positions, positions: Positions): number =>
  totalOf(ends) - totalOf(atMost(ends, positions))

/** Returns the positions, but none beyond the end of its partition. */
export const atMost = (ends: Positions, positions: Positions): Positions =>
  new Map([...ends].map(([partition, end]) => [partition, Math.min(end, positions.get(partition) ?? 0)]))
