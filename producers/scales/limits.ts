/** The part of a JSON Schema that limits a number. Both limits are inclusive. */
export interface Range {
  readonly minimum: number
  readonly maximum: number
}

const number = (minimum: number, maximum: number) => ({ type: 'number', minimum, maximum }) as const
const text = (maxLength: number) => ({ type: 'string', minLength: 1, maxLength }) as const

/** The values that the edge accepts, as JSON Schema, in HTTP requests, in messages of devices and in events that an operator appends. */
export const LIMITS = {
  /** The weight that a scale measures. */
  lbs: number(-5, 400),
  volts: number(0, 20),
  percent: number(0, 100),
  level: number(-20, 130),
  calibration: number(-1e9, 1e9),
  /** The weight of a full or an empty keg. */
  kegLbs: number(0, 1_000),
  kegGallons: number(0.01, 200),
  gravity: number(0.5, 2),
  beerName: text(200),
  beerStyle: text(100),
  voidReason: text(500),
  gracePeriodSecs: { ...number(0, 604_800), type: 'integer' },
  silentAfterSecs: { ...number(60, 604_800), type: 'integer' },
  pourWindowHours: number(1, 720),
  pourMinGallons: number(0.001, 10),
  pourSettleSecs: { ...number(1, 3_600), type: 'integer' },
} as const

export const BOOT = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$/
export const FIRMWARE = /^[ -~]{1,64}$/
export const TARE_STATUS = /^[a-z][a-z_-]{0,31}$/
