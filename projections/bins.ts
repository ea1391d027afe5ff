import { PARTS, type Aggregate, type Bin, type Binning, type Point } from './series.ts'

/** Aggregates the points into bins of `ms` milliseconds, for a store that cannot aggregate. Sorted by time, then by the dimension. */
export const binsOf = (points: Iterable<Point>, { ms, by, of }: Binning): readonly Bin[] => {
  const bins: Bin[] = []
  for (const { at, dims, values } of points) {
    const found: { [value: string]: Aggregate } = {}
    for (const name of of) {
      const value = values[name]
      if (typeof value === 'number') found[name] = { count: 1, sum: partsOf(value), min: value }
    }
    bins.push({ at: Math.floor(at / ms) * ms, ...(by === undefined ? {} : { by: dims[by] ?? '' }), values: found })
  }
  return united(bins)
}

/** The number in whole millionths (`PARTS`), rounded half away from zero as in SQL. */
const partsOf = (value: number): number => Math.sign(value) * Math.round(Math.abs(value * PARTS))

/** The sum of the numbers. Sorts the numbers first, so that the floating-point result does not depend on their order. */
export const sumOf = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b).reduce((sum, value) => sum + value, 0)

/** The mean of the numbers that an aggregate contains. */
export const meanOf = ({ sum, count }: Pick<Aggregate, 'sum' | 'count'>): number => sum / count / PARTS

/** Merges bins of the same time and dimension. */
export const united = (bins: Iterable<Bin>): readonly Bin[] => {
  const byName = new Map<string, Bin>()
  for (const bin of bins) {
    const name = `${bin.at} ${bin.by ?? ''}`
    const known = byName.get(name)
    byName.set(name, known === undefined ? bin : { ...bin, values: mergeValues(known.values, bin.values) })
  }
  return [...byName.values()].sort((a, b) => a.at - b.at || ((a.by ?? '') < (b.by ?? '') ? -1 : 1))
}

const mergeValues = (a: Bin['values'], b: Bin['values']): Bin['values'] => {
  const sums: { [value: string]: Aggregate } = { ...a }
  for (const [name, more] of Object.entries(b)) {
    const known = sums[name]
    sums[name] =
      known === undefined
        ? more
        : { count: known.count + more.count, sum: known.sum + more.sum, min: Math.min(known.min, more.min) }
  }
  return sums
}
