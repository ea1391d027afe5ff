import type { Key, Stored } from '../../projections/item.ts'
import type { Reader } from '../../projections/table.ts'
import { messageOf } from '../../schemas/fault.ts'
import type { Clock } from './clock.ts'
import type { Position } from './log.ts'
import { isRetriable } from './retry.ts'
import { replacing, type Store, type Write } from './store.ts'

/** Something that is to go out once. */
export interface Parcel {
  readonly id: string
  readonly about: About
  readonly tellsDuplicatesApart: boolean
  /** Resolves to the position of the appended event, if the parcel goes to the log. */
  send(): Promise<Position | undefined>
  /** The fault says that it will never be taken. */
  isFinal(error: unknown): boolean
}

/** What people are shown of a parcel whose fate is not known. */
export interface About {
  readonly domain: string
  readonly kind: string
  readonly key: string
  readonly position: string
}

/** A parcel that may or may not have arrived, or was refused for good. */
export interface Unconfirmed extends About {
  readonly id: string
  readonly state: 'unconfirmed' | 'refused'
  readonly reason: string
  readonly at: number
}

/** What was sent, by anybody, from any generation. */
export interface Ledger {
  /** Sends the parcel if it was not sent yet. `later`: another process is sending it. Throws if it could not be sent now. */
  once(parcel: Parcel): Promise<Done | 'later'>
  /** Those of the ids with which nothing is left to do, each with the position that its event was appended at, if it was appended. */
  settled(ids: readonly string[]): Promise<ReadonlyMap<string, Position | undefined>>
}

/** Nothing is left to do with a parcel. `position`: where its event was appended, if it was appended. */
export interface Done {
  readonly position: Position | undefined
}

export interface LedgerParts {
  readonly store: Store
  readonly clock: Clock
  /** One life of one process: a claim of another is left alone until it lapses. */
  readonly holder: string
}

type State = 'claimed' | 'free' | 'sent' | Unconfirmed['state']
type Entry = Stored & { readonly state: State; readonly by?: string; readonly until?: number; readonly position?: { readonly partition: number; readonly offset: number } }

/** Longer than any receiver may take. */
const CLAIM_MS = 60_000
/** What nobody cleared up by then, nobody will. */
const REPORT_SECONDS = 30 * 24 * 60 * 60

const sentKey = (id: string): Key => ({ PK: `SENT#${id}`, SK: 'SENT' })
const reportPartition = (domain: string) => `UNCONFIRMED#${domain}`
const isSettled = ({ state }: Entry) => state !== 'claimed' && state !== 'free'

export const createLedger = (parts: LedgerParts): Ledger => {
  const { store } = parts
  const begun: Begun = new Map()
  const claim = claiming(parts, begun)

  /** Resolves to undefined if the parcel did not arrive. */
  const send = async (parcel: Parcel, claimed: Entry): Promise<Done | undefined> => {
    begun.set(parcel.id, 'perhaps')
    try {
      const arrived = { position: await parcel.send() }
      begun.set(parcel.id, arrived)
      return arrived
    } catch (error) {
      if (isRetriable(error)) begun.delete(parcel.id)
      await giveBack(parts, { parcel, claimed, error })
      begun.delete(parcel.id)
      if (isClosed(parcel, error)) return undefined
      throw error
    }
  }
  const once: Ledger['once'] = async (parcel) => {
    const claimed = await claim(parcel)
    if (claimed === 'later') return 'later'
    let done: Done | undefined = { position: claimed.position }
    if (!isSettled(claimed)) {
      const before = begun.get(parcel.id)
      done = typeof before === 'object' ? before : await send(parcel, claimed)
      if (done !== undefined && !(await confirm(store, { parcel, claimed, done }))) return 'later'
    }
    begun.delete(parcel.id)
    return done ?? { position: undefined }
  }
  const settled: Ledger['settled'] = async (ids) => {
    if (ids.length === 0) return new Map()
    const found = (await store.load(ids.map(sentKey))) as readonly (Entry | undefined)[]
    return new Map(ids.flatMap((id, index) => (found[index] !== undefined && isSettled(found[index]) ? [[id, found[index].position] as const] : [])))
  }
  return { once, settled }
}

/** What this holder began to send under its own claim and has not settled yet. */
type Begun = Map<string, 'perhaps' | Done>

/** A conditional write: only one process gets the claim. Returns the entry as it is if nothing is left to do with the parcel. */
const claiming = ({ store, clock, holder }: LedgerParts, begun: Begun) => async (parcel: Parcel): Promise<Entry | 'later'> => {
  let met: Entry | undefined
  for (;;) {
    const write = entering(parcel.id, met, { state: 'claimed', by: holder, until: clock.now() + CLAIM_MS })
    const [outcome] = await store.commit([[[write]]])
    if (outcome === undefined || outcome.applied === 'all') return write.put as Entry
    met = outcome.current[0] as Entry | undefined
    if (met === undefined || met.state === 'free') continue
    if (isSettled(met)) return met
    // Mine, from a try whose answer was lost.
    if (met.by === holder && (parcel.tellsDuplicatesApart || begun.get(parcel.id) !== 'perhaps')) return met
    if (met.by !== holder && (met.until ?? 0) > clock.now()) return 'later'
    if (parcel.tellsDuplicatesApart) continue
    await report(store, { parcel, claimed: met, state: 'unconfirmed', reason: 'It was claimed and never confirmed; the receiver cannot tell duplicates apart.', at: clock.now() })
  }
}

const entering = (id: string, was: Entry | undefined, entry: Pick<Entry, 'state' | 'by' | 'until' | 'position'>) => replacing(was, { ...sentKey(id), ...entry })

interface Failed {
  readonly parcel: Parcel
  readonly claimed: Entry
  readonly error: unknown
}

/** Not to be tried again: it will never be taken, or it may have arrived and must not arrive twice. */
const isClosed = (parcel: Parcel, error: unknown): boolean => !isRetriable(error) && (parcel.isFinal(error) || !parcel.tellsDuplicatesApart)

/** Nothing arrived, or it does no harm to send it again: anybody may. Otherwise people hear of it. */
const giveBack = async ({ store, clock }: LedgerParts, { parcel, claimed, error }: Failed): Promise<void> => {
  const reason = messageOf(error)
  const state = parcel.isFinal(error) ? 'refused' : 'unconfirmed'
  if (isClosed(parcel, error)) return report(store, { parcel, claimed, state, reason, at: clock.now() })
  await store.commit([[[entering(parcel.id, claimed, { state: 'free' })]]])
}

type Report = Pick<Unconfirmed, 'state' | 'reason' | 'at'> & { readonly parcel: Parcel; readonly claimed: Entry }

const report = async (store: Store, { parcel, claimed, state, reason, at }: Report): Promise<void> => {
  const { id, about } = parcel
  const row = { PK: reportPartition(about.domain), SK: id, ...about, id, state, reason, at, ttl: Math.floor(at / 1000) + REPORT_SECONDS }
  await store.commit([[[entering(id, claimed, { state }), replacing(undefined, row)]]])
}

/** Arrived. Where another had given it up meanwhile, that is taken back. */
const confirm = async (store: Store, { parcel: { id, about }, claimed, done: { position } }: { parcel: Parcel; claimed: Entry; done: Done }): Promise<boolean> => {
  let met = claimed
  for (;;) {
    const writes: Write[] = [entering(id, met, { state: 'sent', ...(position && { position: { partition: position.partition, offset: position.offset } }) })]
    if (met.state === 'unconfirmed') writes.push({ remove: { PK: reportPartition(about.domain), SK: id }, expect: 1 })
    const [outcome] = await store.commit([[writes]])
    if (outcome === undefined || outcome.applied === 'all') return true
    const found = outcome.current.find(({ PK }) => PK === sentKey(id).PK) as Entry | undefined
    if (found === undefined || found.state === 'sent') return true
    // Somebody who may send it again does.
    if (found.state !== 'unconfirmed' || found._pos === met._pos) return false
    met = found
  }
}

/** What of a domain may have arrived or not, or was refused; oldest ids first. */
export const unconfirmedOf = async (reader: Reader, domain: string, limit = 100): Promise<readonly Unconfirmed[]> => {
  const { items } = await reader.query({ pk: reportPartition(domain), limit })
  return items.map(({ id, kind, key, position, state, reason, at }) => ({ domain, id, kind, key, position, state, reason, at }) as Unconfirmed)
}
