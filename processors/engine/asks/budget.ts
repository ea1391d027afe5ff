import type { CallBudget, RateWindow, ReportedUse } from '../../../projections/ask.ts'
import type { Key, Stored } from '../../../projections/item.ts'
import type { LedgerParts } from '../outgoing/ledger.ts'
import { changeRow } from '../rows/change-row.ts'

export interface BudgetParts extends LedgerParts {
  /** The name of the outside service. It is unique in the program. */
  readonly name: string
  readonly windows: readonly RateWindow[]
}

/**
 * The use of a window. `used`: the calls that were made or are reserved. `revision` increases when a response reports more use, or a lower
 * limit, than this row has. Then the reservations of all other processes are void.
 */
type Use = { readonly limit: number; readonly used: number; readonly revision: number }
type WindowRow = Stored & Use
type PauseRow = Stored & { readonly until: number; readonly reason: string }
type Share = Readonly<Record<string, number>>

/** The calls that this process has reserved and not made. */
interface Reservation {
  readonly start: number
  readonly revision: number
  readonly left: number
}

/** A window at an instant, with its row and the row of the window before. */
interface OpenWindow {
  readonly window: RateWindow
  readonly start: number
  readonly row: WindowRow | undefined
  readonly before: WindowRow | undefined
}

/** The number of calls that a process reserves with one write. A crash wastes at most so many calls. */
const RESERVED = 5
/** After the end of an exhausted window, the processes begin at different times within this time. */
const SPREAD_MS = 30_000

/** The prefix of the budget's rows. */
const BUDGET = 'BUDGET#'

/**
 * Creates the budget of one outside service. Its rows are in the ledger, so all processes share them. A process reads the rows before each
 * call, and writes them when it reserves calls or when a response reports other figures.
 */
export const createCallBudget = (parts: BudgetParts): CallBudget => {
  const { clock } = parts
  const rows = rowsOf(parts)
  const reservations = createReservations(rows)
  const inTurn = createTurns()
  const take: CallBudget['take'] = async (share = {}) => {
    const now = clock.now()
    const read = await rows.read(now)
    const held = heldIn(read, (open) => reservations.closedUntil(open, now, share))
    if (held !== undefined) return held
    for (const open of read.opened) {
      if (reservations.leftIn(open, open.row) > 0 || (await reservations.reserve(open, share))) continue
      return rows.endOf(open)
    }
    for (const { window } of read.opened) reservations.spend(window.name)
    return undefined
  }
  const report: CallBudget['report'] = async (use) => {
    const { opened } = await rows.read(clock.now())
    for (const each of use) {
      const open = opened.find(({ window }) => window.name === each.window)
      if (open === undefined) throw new TypeError(`The budget ${parts.name} has no window ${each.window}.`)
      await reservations.report(open, each)
    }
  }
  return {
    take: (share) => inTurn(() => take(share)),
    report: (use) => inTurn(() => report(use)),
    heldUntil: async (share = {}) => {
      const now = clock.now()
      return heldIn(await rows.read(now), (open) => reservations.closedUntil(open, now, share))
    },
    pause: rows.pause,
  }
}

/** Creates the functions for the calls that this process reserves in the windows. */
const createReservations = (rows: Rows) => {
  const reserved = new Map<string, Reservation>()
  const leftIn = ({ window, start }: OpenWindow, row: WindowRow | undefined): number => {
    const own = reserved.get(window.name)
    return own !== undefined && own.start === start && own.revision === row?.revision ? own.left : 0
  }
  const setLeft = (open: OpenWindow, row: WindowRow | undefined, left: number): void => {
    if (row !== undefined) reserved.set(open.window.name, { start: open.start, revision: row.revision, left })
  }
  return {
    leftIn,
    /** Returns the time from which calls are possible in the window. Undefined: now. */
    closedUntil: (open: OpenWindow, now: number, share: Share): number | undefined => {
      const { start, row, before } = open
      const opens = start + rows.spread(start)
      if (before !== undefined && before.used >= before.limit && now < opens) return opens
      return (row?.used ?? 0) - leftIn(open, row) < capacityOf(open, row, share) ? undefined : rows.endOf(open)
    },
    /** Reserves calls in the window. Resolves to false if other processes have taken the last ones. */
    reserve: async (open: OpenWindow, share: Share): Promise<boolean> => {
      let count = 0
      const row = await rows.change(open, (was) => {
        const { limit, used, revision } = was ?? firstUse(open)
        count = Math.min(RESERVED, capacityOf(open, was, share) - used)
        return count > 0 ? { limit, used: used + count, revision } : undefined
      })
      if (count <= 0) return false
      setLeft(open, row, count)
      return true
    },
    spend: (window: string): void => {
      const own = reserved.get(window)
      if (own !== undefined) reserved.set(window, { ...own, left: own.left - 1 })
    },
    /** Stores the figures of a response. A lower limit shrinks the reservation of this process. */
    report: async (open: OpenWindow, { limit, used }: ReportedUse): Promise<void> => {
      let left = 0
      const row = await rows.change(open, (was) => {
        left = Math.max(0, Math.min(leftIn(open, was), limit - used))
        const before = was ?? firstUse(open)
        const next = Math.max(before.used, used + left)
        const isLess = next > before.used || limit < before.limit
        if (was !== undefined && !isLess && limit === before.limit) return undefined
        return { limit, used: next, revision: before.revision + (isLess ? 1 : 0) }
      })
      setLeft(open, row, left)
    },
  }
}

interface Read {
  readonly opened: readonly OpenWindow[]
  /** The end of a pause that lasts. */
  readonly pause: number | undefined
}

/** Returns the latest time from which all windows allow calls, and no pause lasts. Undefined: now. */
const heldIn = ({ opened, pause }: Read, closedUntil: (open: OpenWindow) => number | undefined): number | undefined => {
  const times = [...opened.map(closedUntil), pause].filter((time) => time !== undefined)
  return times.length === 0 ? undefined : Math.max(...times)
}

type Rows = ReturnType<typeof rowsOf>

const rowsOf = ({ store, name, windows, processName }: BudgetParts) => {
  const PK = `${BUDGET}${name}`
  const keyOf = ({ window, start }: Pick<OpenWindow, 'window' | 'start'>): Key => ({
    PK,
    SK: `${window.name}#${new Date(start).toISOString()}`,
  })
  const pauseKey: Key = { PK, SK: 'PAUSE' }
  const spread = (start: number): number => hashOf(`${name}#${processName}#${start}`) % SPREAD_MS
  return {
    spread,
    /** The time from which this process makes calls again if the window is exhausted. */
    endOf: ({ start, window: { ms } }: OpenWindow): number => start + ms + spread(start + ms),
    change: (open: OpenWindow, next: (was: WindowRow | undefined) => Use | undefined) =>
      changeRow<WindowRow>(
        store,
        keyOf(open),
        (was) => {
          const use = next(was)
          return use && { ...keyOf(open), ...use, ...expiring(open.start + open.window.ms) }
        },
        { assumed: open.row },
      ),
    read: async (now: number): Promise<Read> => {
      const starts = windows.map((window) => ({ window, start: now - (now % window.ms) }))
      const befores = starts.map(({ window, start }) => ({ window, start: start - window.ms }))
      const [pause, ...found] = await store.load([pauseKey, ...starts.map(keyOf), ...befores.map(keyOf)])
      const until = (pause as PauseRow | undefined)?.until ?? 0
      return {
        opened: starts.map((open, index) => ({
          ...open,
          row: found[index] as WindowRow | undefined,
          before: found[starts.length + index] as WindowRow | undefined,
        })),
        pause: until > now ? until : undefined,
      }
    },
    pause: async (until: number, reason: string): Promise<void> => {
      await changeRow<PauseRow>(store, pauseKey, (was) =>
        was !== undefined && was.until >= until ? undefined : { ...pauseKey, until, reason, ...expiring(until) },
      )
    },
  }
}

const DAY_SECONDS = 24 * 60 * 60

/** The TTL attribute of a row that is not read after `end`, except as the window before another one. */
const expiring = (end: number) => ({ ttl: Math.ceil(end / 1000) + 2 * DAY_SECONDS })

const limitOf = ({ window, before }: OpenWindow, row: WindowRow | undefined): number =>
  row?.limit ?? before?.limit ?? window.limit

const firstUse = (open: OpenWindow): Use => ({ limit: limitOf(open, undefined), used: 0, revision: 0 })

const capacityOf = (open: OpenWindow, row: WindowRow | undefined, share: Share): number =>
  Math.floor(limitOf(open, row) * (share[open.window.name] ?? 1))

/** Returns a function that runs works one after the other. */
const createTurns = () => {
  let last: Promise<unknown> = Promise.resolve()
  return <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work, work)
    last = turn.catch(() => undefined)
    return turn
  }
}

const hashOf = (text: string): number => {
  let hash = 7
  for (let at = 0; at < text.length; at += 1) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) >>> 0
  return hash
}
