import type { FoldedSequences } from '../../projections/scales/items.ts'
import { bootHashOf } from './recent-readings.ts'

export interface Reading {
  readonly device_id: string
  readonly boot: string
  readonly seq: number
}

/** A device can send readings of earlier boots after a restart. A tap rarely gets another device. */
const MAX_BOOTS = 3
/**
 * Beyond this number of gaps the oldest range is dropped: a repeated reading is then counted twice, and none is lost.
 */
const MAX_RANGES = 12

/** True if this sequence was folded before. A device can repeat a reading at any time, with another age (law 8). */
export const isFolded = (folded: readonly FoldedSequences[], reading: Reading): boolean => {
  const boot = bootHashOf(reading)
  return (
    folded
      .find((sequences) => sequences.life === boot)
      ?.ranges.some(([from, to]) => from <= reading.seq && reading.seq <= to) === true
  )
}

export const withFolded = (folded: readonly FoldedSequences[], reading: Reading): readonly FoldedSequences[] => {
  const life = bootHashOf(reading)
  const known = folded.find((sequences) => sequences.life === life)
  const others = folded.filter((sequences) => sequences !== known)
  return [...others.slice(1 - MAX_BOOTS), { life, ranges: widened(known?.ranges ?? [], reading.seq) }]
}

const widened = (ranges: FoldedSequences['ranges'], seq: number): FoldedSequences['ranges'] => {
  const touches = ([from, to]: readonly [number, number]): boolean => from - 1 <= seq && seq <= to + 1
  const joined = ranges.filter(touches)
  const range = [Math.min(seq, ...joined.map(([from]) => from)), Math.max(seq, ...joined.map(([, to]) => to))] as const
  return [...ranges.filter((each) => !touches(each)), range].sort(([a], [b]) => a - b).slice(-MAX_RANGES)
}
