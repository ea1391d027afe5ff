import type { FoldedSequences } from '../../projections/scales/items.ts'
import { bootHashOf } from './recent-readings.ts'

export interface Reading {
  readonly device_id: string
  readonly boot: string
  readonly seq: number
}

/** The number of boots whose sequence numbers are remembered. After a restart, a device can still send readings of an earlier boot. */
const MAX_BOOTS = 3
/**
 * The maximum number of ranges of sequence numbers per boot. If there are more, the oldest range is dropped. Then a
 * repeated reading of this range is folded twice, but no reading is lost.
 */
const MAX_RANGES = 12

/** True if the sequence number was folded before. A device can repeat a reading at any time, and then sends it with another age. */
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
