import { createCipheriv, createDecipheriv, hash, hkdfSync, randomBytes } from 'node:crypto'
import { removing, type Store, type Stores, type Write } from '../../processors/engine/ports/store.ts'
import type { Session, Sessions } from '../../producers/access/sessions.ts'
import type { Item, Key, Stored } from '../../projections/item.ts'
import { everyItem, SESSIONS_TABLE_NAME, type TableSpec } from '../../projections/table.ts'

/** The table of sessions and of values that can be used once. It is not folded: it cannot be rebuilt from the log, and it need not be backed up. */
export const SESSIONS_TABLE: TableSpec = {
  name: SESSIONS_TABLE_NAME,
  ttl: 'expires_at',
  indexes: [],
  kinds: [
    { name: 'session', pk: 'SESSION#' },
    { name: 'session of a user', pk: 'USER#', sk: 'SESSION#' },
    { name: 'value to be used once', pk: 'ONCE#' },
  ],
}

const SESSION = 'SESSION#'

const sessionKey = (idHash: string): Key => ({ PK: `${SESSION}${idHash}`, SK: 'META' })
const userSessionKey = (user: string, idHash: string): Key => ({ PK: `USER#${user}`, SK: `${SESSION}${idHash}` })
const onceKey = (keyHash: string): Key => ({ PK: `ONCE#${keyHash}`, SK: 'META' })

interface SessionItem extends Stored {
  readonly user: string
  readonly token: Session['token']
  /** The e-mail address, encrypted with a key that only the id of the session gives. Null: none. */
  readonly email: string | null
  readonly opened: number
  readonly expires: number
}

interface OnceItem extends Stored {
  readonly value: string
  readonly expires: number
}

interface SessionsParts {
  readonly stores: Pick<Stores, 'create' | 'enableTtl'>
  readonly clock: { now(): number }
}

const SWEEP_MS = 60 * 60 * 1000

/** The sessions in their table. */
export interface StoredSessions extends Sessions {
  /** Creates the table if there is none, so that the first person who signs in does not wait for it. */
  prepare(): Promise<void>
}

/** Returns the sessions in their table. Opens the table at the first call. */
export const createSessions = ({ stores, clock }: SessionsParts): StoredSessions => {
  const hashOf = (secret: string): string => hash('sha256', secret, 'hex')
  let opening: Promise<Store> | undefined
  let swept = clock.now()
  const table = (): Promise<Store> => {
    opening ??= openTable(stores).catch((error: unknown) => {
      opening = undefined
      throw error
    })
    return opening
  }
  const load = async (key: Key): Promise<Stored | undefined> => {
    const [item] = await (await table()).load([key])
    return item !== undefined && Number(item['expires']) > clock.now() ? item : undefined
  }
  const write = async (...writes: readonly Write[]): Promise<readonly boolean[]> => {
    const outcomes = await (await table()).commit(writes.map((each) => [[each]]))
    return outcomes.map(({ applied }) => applied === 'all')
  }
  /** Removes expired rows if the store does not. Readers ignore these rows anyway. */
  const sweep = async (): Promise<void> => {
    const now = clock.now()
    if (stores.enableTtl !== undefined || now - swept < SWEEP_MS) return
    swept = now
    for await (const page of (await table()).scan())
      await write(...page.filter(({ expires }) => Number(expires) <= now).map(removing))
  }
  const put = async (...items: readonly Item[]): Promise<void> => {
    await sweep()
    await (await table()).commit([[items.map((item) => ({ put: { ...item, _pos: 1 }, expect: null }))]])
  }
  const end = (user: string, idHash: string) =>
    write({ remove: sessionKey(idHash), expect: 1 }, { remove: userSessionKey(user, idHash), expect: 1 })

  return {
    prepare: async () => void (await table()),
    async open(id, { user, token, email, openedAt, expiresAt }) {
      const idHash = hashOf(id)
      const expiry = { expires: expiresAt, expires_at: Math.ceil(expiresAt / 1000) }
      await put(
        {
          ...sessionKey(idHash),
          user,
          token,
          email: email === null ? null : encrypt(email, id),
          opened: openedAt,
          ...expiry,
        },
        { ...userSessionKey(user, idHash), ...expiry },
      )
    },
    async find(id) {
      const item = (await load(sessionKey(hashOf(id)))) as SessionItem | undefined
      if (item === undefined) return undefined
      const { user, token, email, opened: openedAt, expires: expiresAt } = item
      return { user, token, email: email === null ? null : decrypt(email, id), openedAt, expiresAt }
    },
    async end(id) {
      const item = (await load(sessionKey(hashOf(id)))) as SessionItem | undefined
      if (item !== undefined) await end(item.user, hashOf(id))
    },
    async endAll(user) {
      const reader = (await table()).reader(clock.now)
      const rows = await everyItem(reader, { pk: `USER#${user}`, prefix: SESSION, limit: 100 })
      for (const { SK } of rows) await end(user, SK.slice(SESSION.length))
    },
    async putOnce(key, value, expiresAt) {
      await put({ ...onceKey(hashOf(key)), value, expires: expiresAt, expires_at: Math.ceil(expiresAt / 1000) })
    },
    async takeOnce(key) {
      const item = (await load(onceKey(hashOf(key)))) as OnceItem | undefined
      if (item === undefined) return undefined
      const [isOurs] = await write(removing(item))
      return isOurs === true ? item.value : undefined
    },
  }
}

const openTable = async (stores: SessionsParts['stores']): Promise<Store> => {
  const store = await stores.create(SESSIONS_TABLE, 1)
  await stores.enableTtl?.(SESSIONS_TABLE, 1)
  return store
}

const CIPHER = 'aes-256-gcm'
const [NONCE_BYTES, TAG_BYTES] = [12, 16]

/** The key that encrypts the e-mail address of a session. The table contains only the hash of the id, from which nobody can compute the key. */
const keyFrom = (id: string): Buffer => Buffer.from(hkdfSync('sha256', id, '', 'session e-mail', 32))

const encrypt = (text: string, id: string): string => {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, keyFrom(id), nonce)
  const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return sealed.toString('base64')
}

const decrypt = (sealed: string, id: string): string => {
  const bytes = Buffer.from(sealed, 'base64')
  const decipher = createDecipheriv(CIPHER, keyFrom(id), bytes.subarray(0, NONCE_BYTES))
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  return decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
}
