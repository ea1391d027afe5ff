import type { Seen } from '../../projections/scales/items.ts'
import { lifeOf } from './recent.ts'

export interface Reading {
  readonly device_id: string
  readonly boot: string
  readonly seq: number
}

/** A device that starts anew may still have something to say of its life before; a tap's device is seldom changed. */
const KEPT_LIVES = 3
/** With this many gaps the oldest is forgotten: rather a reading twice than one lost. */
const KEPT_RANGES = 12

/** The same reading may come again at any time, with another age (law 8). */
export const isSeen = (lives: readonly Seen[], reading: Reading): boolean => {
  const life = lifeOf(reading)
  return lives.find((seen) => seen.life === life)?.ranges.some(([from, to]) => from <= reading.seq && reading.seq <= to) === true
}

export const withSeen = (lives: readonly Seen[], reading: Reading): readonly Seen[] => {
  const life = lifeOf(reading)
  const known = lives.find((seen) => seen.life === life)
  const others = lives.filter((seen) => seen !== known)
  return [...others.slice(1 - KEPT_LIVES), { life, ranges: widened(known?.ranges ?? [], reading.seq) }]
}

const widened = (ranges: Seen['ranges'], seq: number): Seen['ranges'] => {
  const touches = ([from, to]: readonly [number, number]): boolean => from - 1 <= seq && seq <= to + 1
  const joined = ranges.filter(touches)
  const range = [Math.min(seq, ...joined.map(([from]) => from)), Math.max(seq, ...joined.map(([, to]) => to))] as const
  return [...ranges.filter((each) => !touches(each)), range].sort(([a], [b]) => a - b).slice(-KEPT_RANGES)
}
