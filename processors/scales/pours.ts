/** The settings of a location by which the detection distinguishes a pour from noise, and from a gap without readings. */
export interface Thresholds {
  /** A fall by fewer gallons is noise. */
  readonly pour_min_gallons: number
  /** A pour has ended if the weight has not fallen for this long. */
  readonly pour_settle_secs: number
  /** If two readings are further apart, the scale sent nothing between them (a silence). */
  readonly silent_after_secs: number
}

export interface Level {
  /** Epoch milliseconds. */
  readonly at: number
  readonly gallons: number
}

export interface Poured {
  /** Times of the last reading before the fall, and of the reading that first shows the whole fall. */
  readonly start: number
  readonly end: number
  readonly gallons: number
}

/** Beer that left the keg while its scale sent nothing: between the last reading before this gap and the first reading after it. */
export type Unseen = Poured

/** The state of the pour detection. It is small, because it is part of the tap's state. */
export type Detector = {
  /** Time of the newest reading. */
  readonly at: number
  /** The level before the next pour. Absent while there is no keg on the scale. */
  readonly base?: number
  /** A fall that may become a pour: its start, its lowest level, and the time of the latest fall. */
  readonly start?: number
  readonly low?: number
  readonly low_at?: number
  /** A rise that may become the new base: its first level, the time of that level, and the number of readings so far. */
  readonly high?: number
  readonly high_at?: number
  readonly highs?: number
}

export interface Step {
  readonly detector: Detector
  readonly poured?: Poured
  readonly unseen?: Unseen
  readonly pouring: boolean
}

/** Limits in gallons. Temperature changes a level by less than DRIFT_PER_MS. A tap does not pour more than FASTEST_PER_MINUTE. */
const DRIFT_PER_MS = 0.1 / 3_600_000
const FASTEST_PER_MINUTE = 2
/** If the level is below this number of gallons, the keg was lifted off the scale. */
const LIFTED = -0.5
/** A rise of fewer readings is ignored: something was laid on the keg and taken away again. */
const RISE_READINGS = 3

/**
 * Applies the next reading of a keg to the detection. Ignores a reading that is not newer than the previous one. A level that falls by
 * `pour_min_gallons` begins a pour. The pour ends when the level has not fallen for `pour_settle_secs`. If the level comes back, there was no
 * pour. A level that rises by `pour_min_gallons` and stays is another keg or a refill. It becomes the base: the level before the next pour.
 * A short rise is ignored. A slow fall is drift and no pour. If a level falls faster than a tap pours, somebody moved the keg. If the level
 * fell while the scale sent nothing, the fall is reported as unseen beer and not as a pour.
 */
export const step = (detector: Detector | undefined, level: Level, thresholds: Thresholds): Step => {
  if (detector === undefined) return resting(level)
  if (!(level.at > detector.at)) return { detector, pouring: isPouring(detector) }
  if (level.gallons < LIFTED) return { ...ended(detector, thresholds), detector: { at: level.at }, pouring: false }
  if (!hasKeg(detector)) return resting(level)
  if (level.at - detector.at > thresholds.silent_after_secs * 1000) return afterSilence(detector, level, thresholds)
  if (isTooFast({ at: detector.at, gallons: detector.low ?? detector.base }, level))
    return { ...ended(detector, thresholds), ...resting(level) }
  return stepOnKeg(detector, level, thresholds)
}

/** Applies a reading that followed the previous reading without a gap, while a keg is on the scale. */
const stepOnKeg = (detector: OnScale, level: Level, thresholds: Thresholds): Step => {
  const { high, high_at, highs, ...rest } = detector
  if (!isPouring(rest))
    return isUp(rest.base, level, thresholds) ? rising(detector, level, thresholds) : idle(rest, level, thresholds)
  // If the level is back at the base, nothing was poured. So the return to the base does not count as a rise.
  const isBack = Math.abs(rest.base - level.gallons) < thresholds.pour_min_gallons
  return !isBack && isUp(rest.low, level, thresholds)
    ? rising(detector, level, thresholds)
    : falling(rest, level, thresholds)
}

const isUp = (before: number, { gallons }: Level, { pour_min_gallons }: Thresholds): boolean =>
  gallons - before >= pour_min_gallons

/** Returns the pour that is under way, as if it ended now. Empty if no pour is under way, or if the level has fallen too little for a pour. */
export const ended = (
  detector: Detector | undefined,
  { pour_min_gallons }: Thresholds,
): { readonly poured?: Poured } => {
  if (detector === undefined || !isPouring(detector)) return {}
  const gallons = detector.base - detector.low
  return gallons >= pour_min_gallons ? { poured: { start: detector.start, end: detector.low_at, gallons } } : {}
}

/** Ends the pour, because the scale stopped sending. The lowest level of this pour is the base of the next one. A rise that has begun is kept. */
export const stopObserving = (detector: Detector, thresholds: Thresholds): Step => {
  const { base, start, low, low_at, ...rest } = detector
  const { poured } = ended(detector, thresholds)
  if (poured !== undefined && low !== undefined) return { detector: { ...rest, base: low }, poured, pouring: false }
  return { detector: base === undefined ? rest : { ...rest, base }, pouring: false }
}

const isTooFast = (before: Level, { at, gallons }: Level): boolean =>
  before.gallons - gallons > FASTEST_PER_MINUTE * Math.max(1, (at - before.at) / 60_000)

/**
 * Applies the first reading after a gap without readings. A pour that was under way ended at its lowest level. A further fall is unseen beer
 * and never drift, because no reading shows how fast the level fell. If the fall is too small for a pour, the base stays, so that several
 * small falls add up.
 */
const afterSilence = (detector: OnScale, level: Level, thresholds: Thresholds): Step => {
  const {
    detector: { base: last = detector.base, ...alone },
    poured,
  } = stopObserving(detector, thresholds)
  const rise = isUp(last, level, thresholds) ? riseOf(alone, level, thresholds) : undefined
  const base = rise?.isLasting ? rise.base : last
  const gallons = base - level.gallons
  const isFall = gallons >= thresholds.pour_min_gallons
  const isUnseen = isFall && !isTooFast({ at: detector.at, gallons: base }, level)
  return {
    detector: { at: level.at, base: isFall ? level.gallons : base, ...(rise?.isLasting === false && rise.high) },
    pouring: false,
    ...(poured !== undefined && { poured }),
    ...(isUnseen && { unseen: { start: detector.at, end: level.at, gallons } }),
  }
}

type OnScale = Detector & { readonly base: number }

const hasKeg = (detector: Detector): detector is OnScale => detector.base !== undefined

type Falling = Detector & Required<Pick<Detector, 'base' | 'start' | 'low' | 'low_at'>>

const isPouring = (detector: Detector): detector is Falling => detector.low !== undefined

const resting = ({ at, gallons }: Level): Step => ({ detector: { at, base: gallons }, pouring: false })

const driftIn = ({ at: before }: Pick<Detector, 'at'>, { at }: Level): number => DRIFT_PER_MS * (at - before)

const idle = ({ at: before, base }: Pick<OnScale, 'at' | 'base'>, level: Level, thresholds: Thresholds): Step => {
  const { at, gallons } = level
  const drift = driftIn({ at: before }, level)
  if (base - drift - gallons >= thresholds.pour_min_gallons)
    return { detector: { at, base, start: before, low: gallons, low_at: at }, pouring: true }
  return { detector: { at, base: Math.min(base + drift, Math.max(base - drift, gallons)) }, pouring: false }
}

/**
 * Applies a reading during a rise. While the rise is short, neither the base nor the pour changes. When the rise has lasted and the level is
 * still below the base, the pour ends. Otherwise the level becomes the new base.
 */
const rising = (detector: OnScale, level: Level, thresholds: Thresholds): Step => {
  const { high, high_at, highs, ...rest } = detector
  const { at, gallons } = level
  const rise = riseOf(detector, level, thresholds)
  if (!rise.isLasting) return { detector: { ...rest, at, ...rise.high }, pouring: isPouring(detector) }
  if (isPouring(rest) && gallons < rest.base) return settled(rest, level, thresholds)
  // If the level has fallen since the rise began, this reading begins a pour from the first level of the rise.
  return idle({ at: detector.at, base: rise.base }, level, thresholds)
}

/** Adds this reading to the rise. `high`: the state to store while `isLasting` is false. `base`: the new base if `isLasting` is true. */
const riseOf = ({ high, high_at, highs = 0 }: Detector, { at, gallons }: Level, { pour_settle_secs }: Thresholds) => {
  const first = { high: high ?? gallons, high_at: high_at ?? at }
  const isLasting = highs + 1 >= RISE_READINGS && at - first.high_at >= pour_settle_secs * 1000
  return { high: { ...first, highs: highs + 1 }, isLasting, base: Math.max(first.high, gallons) }
}

const falling = (detector: Falling, level: Level, thresholds: Thresholds): Step => {
  const { base, low, low_at } = detector
  const { at, gallons } = level
  if (at - low_at >= thresholds.pour_settle_secs * 1000) return settled(detector, level, thresholds)
  if (base - gallons < thresholds.pour_min_gallons) return idle({ at: detector.at, base }, level, thresholds)
  // A fall of less than a quarter of `pour_min_gallons` is noise, and must not delay the end of the pour.
  const falls = low - gallons >= thresholds.pour_min_gallons / 4
  return { detector: { ...detector, at, low: Math.min(low, gallons), low_at: falls ? at : low_at }, pouring: true }
}

/** Ends the pour. Its gallons are the base minus the settled level. The reading that ends this pour can begin the next one. */
const settled = (detector: Falling, level: Level, thresholds: Thresholds): Step => {
  const rest = Math.max(detector.low, level.gallons)
  const { poured } = ended({ ...detector, low: rest }, thresholds)
  const next = idle({ at: detector.at, base: poured === undefined ? detector.base : rest }, level, thresholds)
  return poured === undefined ? next : { ...next, poured }
}
