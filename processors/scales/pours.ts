/** What tells a pour from noise; of the location's settings. */
export interface Thresholds {
  /** A smaller step down is noise. */
  readonly pour_min_gallons: number
  /** A pour has ended when the weight did not fall for this long. */
  readonly pour_settle_secs: number
  /** After this long without a reading the scale was silent. */
  readonly silent_after_secs: number
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

/** What left the keg while its scale was silent: between the readings before and after the silence. */
export type Unseen = Poured

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
  /** A rise that may become the new base: its first level, its time, and how many readings it has lasted. */
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

/** Temperature moves a level no faster, and a tap lets out no more. */
const DRIFT_PER_MS = 0.1 / 3_600_000
const FASTEST_PER_MINUTE = 2
/** Less than an empty keg: it was lifted off. */
const LIFTED = -0.5
/** Something that is laid on the keg for fewer readings is not another keg or a refill. */
const RISE_READINGS = 3

/**
 * The next reading of a keg, in the order of time; one that is not newer is ignored. A level that falls by enough begins a pour. The pour ends when
 * the level has not fallen for a while; if the level comes back, there was no pour. A level that rises by enough and stays is another keg or a
 * refill, and becomes the base; a short rise is ignored. A slow fall is drift. A fall that is faster than a tap pours is a keg being moved. A fall
 * during which the scale was silent is unseen, and no pour.
 */
export const step = (detector: Detector | undefined, level: Level, thresholds: Thresholds): Step => {
  if (detector === undefined) return resting(level)
  if (!(level.at > detector.at)) return { detector, pouring: isPouring(detector) }
  if (level.gallons < LIFTED) return { ...ended(detector, thresholds), detector: { at: level.at }, pouring: false }
  if (detector.base === undefined) return resting(level)
  if (level.at - detector.at > thresholds.silent_after_secs * 1000) return afterSilence(detector, level, thresholds)
  if (isTooFast({ at: detector.at, base: detector.low ?? detector.base }, level)) return { ...ended(detector, thresholds), ...resting(level) }
  return isPouring(detector) ? falling(detector, level, thresholds) : idle({ ...detector, base: detector.base }, level, thresholds)
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

const isTooFast = ({ at, base }: { readonly at: number; readonly base: number }, level: Level): boolean =>
  base - level.gallons > FASTEST_PER_MINUTE * Math.max(1, (level.at - at) / 60_000)

/** The first reading after a silence. A pour that went on then ends at the last level that was seen; what is missing beyond it is unseen. */
const afterSilence = (detector: Detector, level: Level, thresholds: Thresholds): Step => {
  const { detector: { base = level.gallons }, poured } = leftAlone(detector, thresholds)
  const left = { at: detector.at, base }
  const gallons = base - level.gallons
  const next = gallons - driftIn(left, level) < thresholds.pour_min_gallons ? idle(left, level, thresholds) : { ...resting(level), ...(!isTooFast(left, level) && { unseen: { start: detector.at, end: level.at, gallons } }) }
  return poured === undefined ? next : { ...next, poured }
}

type Falling = Detector & Required<Pick<Detector, 'base' | 'start' | 'low' | 'low_at'>>

const isPouring = (detector: Detector): detector is Falling => detector.low !== undefined

const resting = ({ at, gallons }: Level): Step => ({ detector: { at, base: gallons }, pouring: false })

type Resting = Pick<Detector, 'at' | 'high' | 'high_at' | 'highs'> & { readonly base: number }

const driftIn = ({ at: before }: Pick<Detector, 'at'>, { at }: Level): number => DRIFT_PER_MS * (at - before)

const idle = (detector: Resting, level: Level, thresholds: Thresholds): Step => {
  const { at: before, base } = detector
  const { at, gallons } = level
  const drift = driftIn(detector, level)
  if (base - drift - gallons >= thresholds.pour_min_gallons) return { detector: { at, base, start: before, low: gallons, low_at: at }, pouring: true }
  if (gallons - base >= thresholds.pour_min_gallons) return rising(detector, level, thresholds)
  return { detector: { at, base: Math.min(base + drift, Math.max(base - drift, gallons)) }, pouring: false }
}

/** A rise that has lasted becomes the base, from its first level on: what was poured of it meanwhile is seen at this reading. */
const rising = ({ at: before, base, high, high_at, highs = 0 }: Resting, level: Level, thresholds: Thresholds): Step => {
  const { at, gallons } = level
  if (high === undefined || high_at === undefined) return { detector: { at, base, high: gallons, high_at: at, highs: 1 }, pouring: false }
  const isLasting = highs + 1 >= RISE_READINGS && at - high_at >= thresholds.pour_settle_secs * 1000
  if (isLasting) return idle({ at: before, base: Math.max(high, gallons) }, level, thresholds)
  return { detector: { at, base, high, high_at, highs: highs + 1 }, pouring: false }
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
