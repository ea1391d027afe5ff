/** A period in which a generation serves: it sends the derived events from these positions on. */
export interface ServingPeriod {
  readonly generation: number
  readonly from: ReadonlyMap<number, number>
  /** By `projection#key`: the offsets from which the generation before sent nothing, because the keys were parked in it. */
  readonly parked: ReadonlyMap<string, number>
}

/** The event from which a projection derived another event. */
export interface CausedEvent {
  readonly partition: number
  readonly offset: number
  readonly projection: string
  readonly key: string
}

/** The offset from which the period sends the events that a projection derives from a key. */
export const sendsFrom = (
  { from, parked }: ServingPeriod,
  { partition, projection, key }: Omit<CausedEvent, 'offset'>,
): number =>
  Math.min(from.get(partition) ?? 0, parked.get(`${projection}#${key}`) ?? Infinity, parked.get(`*#${key}`) ?? Infinity)

/** The generation that sends the events derived from this one: that of the newest period that covers it. `periods` is sorted, newest first. The oldest period begins with the log. */
export const senderOf = (periods: readonly ServingPeriod[], caused: CausedEvent): number | undefined =>
  periods.find((period) => sendsFrom(period, caused) <= caused.offset)?.generation
