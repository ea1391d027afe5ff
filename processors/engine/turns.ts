/** One time of serving: from these positions on, a generation is the one that sends. */
export interface Turn {
  readonly generation: number
  readonly from: ReadonlyMap<number, number>
  /** By `projection#key`: keys that stood still in the generation before, which therefore sent nothing of them from there on. */
  readonly parked: ReadonlyMap<string, number>
}

/** An event of a key, as one projection folds it. */
export interface Caused {
  readonly partition: number
  readonly offset: number
  readonly projection: string
  readonly key: string
}

/** From where on the turn answers for what a projection makes of a key. */
export const startOf = ({ from, parked }: Turn, { partition, projection, key }: Omit<Caused, 'offset'>): number =>
  Math.min(from.get(partition) ?? 0, parked.get(`${projection}#${key}`) ?? Infinity, parked.get(`*#${key}`) ?? Infinity)

/** Whose it is to send: the newest turn that had begun by then. Turns come newest first, and the oldest begins with the log. */
export const ownerOf = (turns: readonly Turn[], caused: Caused): number | undefined =>
  turns.find((turn) => startOf(turn, caused) <= caused.offset)?.generation
