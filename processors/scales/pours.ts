/** What tells a pour from noise; of the location's settings. */
export interface Thresholds {
  /** A smaller step down is noise. */
  readonly pour_min_gallons: number
  /** A pour has ended when the weight did not fall for this long. */
  readonly pour_settle_secs: number
}

export interface Level {
  /** Epoch milliseconds. */
  readonly at: number
  readonly gallons: number
}

export interface Poured {
  /** The last reading before the level fell, and the one at which it had fallen. */
  readonly start: number
  readonly end: number
  readonly gallons: number
}

/** What is known of a keg's level: small, it lies in the tap's state. */
export type Detector = {
  /** The reading last seen. */
  readonly at: number
  /** The level that nothing was poured from yet; absent while no keg stands on the scale. */
  readonly base?: number
  /** A fall that may become a pour: since when, how deep, and when it was last seen to fall. */
  readonly start?: number
  readonly low?: number
  readonly low_at?: number
}

export interface Step {
  readonly detector: Detector
  readonly poured?: Poured
  readonly pouring: boolean
}

/** Temperature moves a level no faster, and a tap lets out no more. */
const DRIFT_PER_MS = 0.1 / 3_600_000
const FASTEST_PER_MINUTE = 2
/** Less than an empty keg: it was lifted off. */
const LIFTED = -0.5

/**
 * The next reading of a keg, in the order of time; one that is not newer is not looked at. A level that falls by enough begins a pour, which
 * ends when it fell no more for a while, and was none when the level came back. What falls slowly is drift, what falls faster than a tap
 * pours is a keg being moved, and what rises by enough is another keg or a refill: they only move the base.
 */
export const step = (detector: Detector | undefined, level: Level, thresholds: Thresholds): Step => {
  if (detector === undefined) return resting(level)
  if (!(level.at > detector.at)) return { detector, pouring: isPouring(detector) }
  if (level.gallons < LIFTED) return { ...ended(detector, thresholds), detector: { at: level.at }, pouring: false }
  if (detector.base === undefined) return resting(level)
  const last = detector.low ?? detector.base
  if (last - level.gallons > FASTEST_PER_MINUTE * Math.max(1, (level.at - detector.at) / 60_000)) return { ...ended(detector, thresholds), ...resting(level) }
  return isPouring(detector) ? falling(detector, level, thresholds) : idle({ at: detector.at, base: detector.base }, level, thresholds)
}

/** What was poured up to now, when the keg leaves: nobody will see the level settle. */
export const ended = (detector: Detector | undefined, { pour_min_gallons }: Thresholds): { readonly poured?: Poured } => {
  if (detector === undefined || !isPouring(detector)) return {}
  const gallons = detector.base - detector.low
  return gallons >= pour_min_gallons ? { poured: { start: detector.start, end: detector.low_at, gallons } } : {}
}

/** The same, when nobody looks any more: what is poured after is poured from where the level was last seen. */
export const leftAlone = (detector: Detector, thresholds: Thresholds): Step => {
  const { at, base, low } = detector
  const { poured } = ended(detector, thresholds)
  if (poured !== undefined && low !== undefined) return { detector: { at, base: low }, poured, pouring: false }
  return { detector: base === undefined ? { at } : { at, base }, pouring: false }
}

type Falling = Required<Detector>

const isPouring = (detector: Detector): detector is Falling => detector.low !== undefined

const resting = ({ at, gallons }: Level): Step => ({ detector: { at, base: gallons }, pouring: false })

const idle = ({ at: before, base }: { readonly at: number; readonly base: number }, { at, gallons }: Level, { pour_min_gallons }: Thresholds): Step => {
  const drift = DRIFT_PER_MS * (at - before)
  if (base - drift - gallons >= pour_min_gallons) return { detector: { at, base, start: before, low: gallons, low_at: at }, pouring: true }
  const moved = gallons - base >= pour_min_gallons ? gallons : Math.min(base + drift, Math.max(base - drift, gallons))
  return { detector: { at, base: moved }, pouring: false }
}

const falling = (detector: Falling, level: Level, thresholds: Thresholds): Step => {
  const { base, low, low_at } = detector
  const { at, gallons } = level
  if (at - low_at >= thresholds.pour_settle_secs * 1000) return settled(detector, level, thresholds)
  if (base - gallons < thresholds.pour_min_gallons) return idle({ at: detector.at, base }, level, thresholds)
  // A little less is noise: it must not keep the pour from ending.
  const falls = low - gallons >= thresholds.pour_min_gallons / 4
  return { detector: { ...detector, at, low: Math.min(low, gallons), low_at: falls ? at : low_at }, pouring: true }
}

/** The pour is what is still missing; the reading that tells so may begin the next one. */
const settled = (detector: Falling, level: Level, thresholds: Thresholds): Step => {
  const rest = Math.max(detector.low, level.gallons)
  const { poured } = ended({ ...detector, low: rest }, thresholds)
  const next = idle({ at: detector.at, base: poured === undefined ? detector.base : rest }, level, thresholds)
  return poured === undefined ? next : { ...next, poured }
}
