import { hash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A transaction in the format of toncenter's API v3, with the fields that the program reads. */
export interface TonTransaction {
  readonly account: string
  /** The hash of the transaction in base64. */
  readonly hash: string
  readonly lt: string
  readonly now: number
  readonly mc_block_seqno: number | null
  readonly emulated: boolean
  readonly description: {
    readonly type: 'ord'
    readonly aborted: boolean
    readonly compute_ph: object
    readonly action?: object
    readonly bounce?: object
  }
  readonly in_msg: TonMessage
  readonly out_msgs: readonly TonMessage[]
}

export interface TonMessage {
  readonly hash: string
  /** The account of the sender. Null if the message came from outside the chain. */
  readonly source: string | null
  readonly destination: string
  readonly value: string | null
  readonly bounce: boolean | null
  readonly bounced: boolean | null
  /** The first 32 bits of the body. Zero: the body is a text comment. Null: the body is empty. */
  readonly opcode: string | null
  readonly message_content: {
    readonly hash: string
    readonly body: string
    readonly decoded: { readonly type: string; readonly comment: string } | null
  }
}

/** A server on 127.0.0.1 that answers like toncenter, with the same errors. */
export interface TonService {
  readonly url: string
  /** `METHOD /path?query` of every request. */
  readonly requests: readonly string[]
  add(transaction: TonTransaction): void
  /** Sets a fault that replaces every answer. Undefined: answers are normal again. */
  trouble(kind: 'silent' | 'cut' | 'html' | 'busy' | 'moved' | undefined): void
  stop(): Promise<void>
}

export const startTon = async (key?: string): Promise<TonService> => {
  const transactions = new Map<string, TonTransaction>()
  const requests: string[] = []
  let trouble: Parameters<TonService['trouble']>[0]
  const server = createServer((request, response) => {
    requests.push(`${request.method ?? ''} ${request.url ?? ''}`)
    if (trouble !== undefined) TROUBLES[trouble](response)
    else if (key !== undefined && request.headers['x-api-key'] !== key)
      answer(response, 401, { ok: false, result: 'API key does not exist', code: 401 })
    else answerRequest(request, response, transactions)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    add: (transaction) => void transactions.set(transaction.hash, transaction),
    trouble: (kind) => void (trouble = kind),
    stop: () => {
      server.closeAllConnections()
      return new Promise((done) => server.close(() => done()))
    },
  }
}

const TROUBLES: Readonly<Record<'silent' | 'cut' | 'html' | 'busy' | 'moved', (response: ServerResponse) => void>> = {
  silent: () => undefined,
  cut: (response) =>
    void response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': 5000 })
      .write('{"transactions":[', () => response.destroy()),
  html: (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>502 Bad Gateway</html>'),
  busy: (response) => answer(response, 429, { ok: false, result: 'Ratelimit exceed', code: 429 }),
  moved: (response) => void response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(),
}

const answerRequest = (
  { method, url = '' }: IncomingMessage,
  response: ServerResponse,
  transactions: ReadonlyMap<string, TonTransaction>,
): void => {
  const { pathname, searchParams } = new URL(url, 'http://ton')
  if (method === 'GET' && pathname === '/api/v3/masterchainInfo')
    return answer(response, 200, { last: { seqno: 33_013_054 }, first: { seqno: 1 } })
  if (method !== 'GET' || pathname !== '/api/v3/transactions')
    return answer(response, 404, { error: `Cannot ${method ?? ''} ${pathname}` })
  const requested = base64Of(searchParams.get('hash') ?? '')
  if (requested === undefined) return answer(response, 422, { error: 'failed to parse hash' })
  const found = transactions.get(requested)
  answer(response, 200, { transactions: found === undefined ? [] : [found], address_book: {} })
}

/** Converts a hash in hex, base64 or base64url to base64. Undefined if the text is not a hash of 32 bytes. */
const base64Of = (text: string): string | undefined => {
  const bytes = Buffer.from(text, /^[0-9a-fA-F]{64}$/.test(text) ? 'hex' : 'base64')
  return bytes.length === 32 ? bytes.toString('base64') : undefined
}

const answer = (response: ServerResponse, status: number, body: object): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

const sha = (what: string): string => hash('sha256', what, 'base64')

/** Returns a TON `bag of cells`, the serialized form of a message body, with one cell that contains these bytes. */
const bagOf = (bytes: Buffer): string =>
  Buffer.concat([
    Buffer.from([0xb5, 0xee, 0x9c, 0x72, 1, 1, 1, 1, 0, bytes.length + 2, 0, 0, 2 * bytes.length]),
    bytes,
  ]).toString('base64')

/** Returns the content of a message: an empty body, or a body of 32 zero bits and the comment. */
export const contentOf = (comment?: string): Pick<TonMessage, 'opcode' | 'message_content'> => {
  const body = bagOf(comment === undefined ? Buffer.alloc(0) : Buffer.concat([Buffer.alloc(4), Buffer.from(comment)]))
  return {
    opcode: comment === undefined ? null : '0x00000000',
    message_content: {
      hash: sha(body),
      body,
      decoded: comment === undefined ? null : { type: 'text_comment', comment },
    },
  }
}

interface Paid extends Partial<TonTransaction> {
  readonly name?: string
  readonly from: string
  readonly to: string
  readonly nano: bigint
  readonly comment?: string
}

/** Returns the transaction of a payment on the account of the payee. Its time is 2026-11-16, one minute after noon (UTC). */
export const paid = ({ name = 'paid', from, to, nano, comment, ...more }: Paid): TonTransaction => ({
  account: to,
  hash: sha(name),
  lt: '46288993000003',
  now: 1_794_830_460,
  mc_block_seqno: 33_013_054,
  emulated: false,
  description: {
    type: 'ord',
    aborted: false,
    compute_ph: { skipped: false, success: true, exit_code: 0 },
    action: { success: true },
  },
  in_msg: {
    hash: sha(`${name}, message`),
    source: from,
    destination: to,
    value: String(nano),
    bounce: true,
    bounced: false,
    ...contentOf(comment),
  },
  out_msgs: [],
  ...more,
})

/** Returns the hash of a transaction in hex, the form that people use. */
export const hexOf = ({ hash: base64 }: TonTransaction): string => Buffer.from(base64, 'base64').toString('hex')
