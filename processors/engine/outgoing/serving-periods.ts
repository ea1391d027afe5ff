/** A period in which a generation serves. The generation sends each derived event whose cause is at or after the offset in `from`, by partition. */
export interface ServingPeriod {
  readonly generation: number
  readonly from: ReadonlyMap<number, number>
  /**
   * By `projection#key`: the offset from which the previous generation sent nothing, because the key was parked there. This period sends
   * from that offset.
   */
  readonly parked: ReadonlyMap<string, number>
}

/** The event from which a projection derived another event. */
export interface CausedEvent {
  readonly partition: number
  readonly offset: number
  readonly projection: string
  readonly key: string
}

/** Returns the offset from which on the period's generation sends the events that the projection derives from events of the key. */
export const sendsFrom = (
  { from, parked }: ServingPeriod,
  { partition, projection, key }: Omit<CausedEvent, 'offset'>,
): number =>
  Math.min(from.get(partition) ?? 0, parked.get(`${projection}#${key}`) ?? Infinity, parked.get(`*#${key}`) ?? Infinity)

/**
 * The generation that sends the events derived from `caused`: the generation of the newest period that begins at or before this event.
 * `periods` is sorted, newest first. Undefined if all periods begin later.
 */
export const senderOf = (periods: readonly ServingPeriod[], caused: CausedEvent): number | undefined =>
  periods.find((period) => sendsFrom(period, caused) <= caused.offset)?.generation
