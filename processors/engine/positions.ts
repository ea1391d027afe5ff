import type { Log } from './log.ts'

/** The next offset by partition; one that is not named stands at its beginning. */
export type Positions = ReadonlyMap<number, number>

/** Where the log ends now. */
export const endsOf = async (log: Pick<Log, 'watermarks'>): Promise<Positions> =>
  new Map((await log.watermarks()).map(({ partition, high }) => [partition, high]))

/** Events up to these positions. */
export const totalOf = (positions: Positions): number => [...positions.values()].reduce((sum, position) => sum + position, 0)

/** Events that are missing to these ends. */
export const missingTo = (ends: Positions, reached: Positions): number => totalOf(ends) - totalOf(atMost(ends, reached))

/** What was reached, and nothing past these ends. */
export const atMost = (ends: Positions, reached: Positions): Positions =>
  new Map([...ends].map(([partition, end]) => [partition, Math.min(end, reached.get(partition) ?? 0)]))
