/** Readings of one life of a device that were heard: the sequences, as ranges with both ends inside. */
export type Seen = { readonly device: string; readonly boot: string; readonly ranges: readonly (readonly [number, number])[] }

export interface Reading {
  readonly device_id: string
  readonly boot: string
  readonly seq: number
}

/** A device that starts anew may still have something to say of its life before; a tap's device is seldom changed. */
const KEPT_LIVES = 3
/** With this many gaps the oldest is forgotten: rather a reading twice than one lost. */
const KEPT_RANGES = 12

const isOf = ({ device_id, boot }: Reading) => (seen: Seen): boolean => seen.device === device_id && seen.boot === boot

/** The same reading may come again at any time, with another age (law 8). */
export const isSeen = (lives: readonly Seen[], reading: Reading): boolean =>
  lives.find(isOf(reading))?.ranges.some(([from, to]) => from <= reading.seq && reading.seq <= to) === true

export const withSeen = (lives: readonly Seen[], reading: Reading): readonly Seen[] => {
  const life = lives.find(isOf(reading))
  const others = lives.filter((seen) => seen !== life)
  return [...others.slice(1 - KEPT_LIVES), { device: reading.device_id, boot: reading.boot, ranges: widened(life?.ranges ?? [], reading.seq) }]
}

const widened = (ranges: Seen['ranges'], seq: number): Seen['ranges'] => {
  const touches = ([from, to]: readonly [number, number]): boolean => from - 1 <= seq && seq <= to + 1
  const joined = ranges.filter(touches)
  const range = [Math.min(seq, ...joined.map(([from]) => from)), Math.max(seq, ...joined.map(([, to]) => to))] as const
  return [...ranges.filter((each) => !touches(each)), range].sort(([a], [b]) => a - b).slice(-KEPT_RANGES)
}
