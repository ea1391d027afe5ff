import { hash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A transaction as toncenter's v3 tells it, as far as anybody here looks. */
export interface TonTransaction {
  readonly account: string
  /** Base64, always. */
  readonly hash: string
  readonly lt: string
  readonly now: number
  readonly mc_block_seqno: number | null
  readonly emulated: boolean
  readonly description: { readonly type: 'ord'; readonly aborted: boolean; readonly compute_ph: object; readonly action?: object; readonly bounce?: object }
  readonly in_msg: TonMessage
  readonly out_msgs: readonly TonMessage[]
}

export interface TonMessage {
  readonly hash: string
  /** Null where it came from outside the chain. */
  readonly source: string | null
  readonly destination: string
  readonly value: string | null
  readonly bounce: boolean | null
  readonly bounced: boolean | null
  /** The first 32 bits of the body: zero in a text comment. Null in an empty body. */
  readonly opcode: string | null
  readonly message_content: { readonly hash: string; readonly body: string; readonly decoded: { readonly type: string; readonly comment: string } | null }
}

/** On loopback: answers as the service does, also what it cannot. */
export interface TonService {
  readonly url: string
  /** `METHOD /path?query` of every request. */
  readonly asked: readonly string[]
  add(transaction: TonTransaction): void
  /** What it does instead of answering. */
  trouble(kind: 'silent' | 'cut' | 'html' | 'busy' | 'moved' | undefined): void
  stop(): Promise<void>
}

export const startTon = async (key?: string): Promise<TonService> => {
  const known = new Map<string, TonTransaction>()
  const asked: string[] = []
  let trouble: Parameters<TonService['trouble']>[0]
  const server = createServer((request, response) => {
    asked.push(`${request.method ?? ''} ${request.url ?? ''}`)
    if (trouble !== undefined) TROUBLES[trouble](response)
    else if (key !== undefined && request.headers['x-api-key'] !== key) answer(response, 401, { ok: false, result: 'API key does not exist', code: 401 })
    else answerQuestion(request, response, known)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    add: (transaction) => void known.set(transaction.hash, transaction),
    trouble: (kind) => void (trouble = kind),
    stop: () => {
      server.closeAllConnections()
      return new Promise((done) => server.close(() => done()))
    },
  }
}

const TROUBLES: Readonly<Record<'silent' | 'cut' | 'html' | 'busy' | 'moved', (response: ServerResponse) => void>> = {
  silent: () => undefined,
  cut: (response) => void response.writeHead(200, { 'content-type': 'application/json', 'content-length': 5000 }).write('{"transactions":[', () => response.destroy()),
  html: (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>502 Bad Gateway</html>'),
  busy: (response) => answer(response, 429, { ok: false, result: 'Ratelimit exceed', code: 429 }),
  moved: (response) => void response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(),
}

const answerQuestion = ({ method, url = '' }: IncomingMessage, response: ServerResponse, known: ReadonlyMap<string, TonTransaction>): void => {
  const { pathname, searchParams } = new URL(url, 'http://ton')
  if (method === 'GET' && pathname === '/api/v3/masterchainInfo') return answer(response, 200, { last: { seqno: 33_013_054 }, first: { seqno: 1 } })
  if (method !== 'GET' || pathname !== '/api/v3/transactions') return answer(response, 404, { error: `Cannot ${method ?? ''} ${pathname}` })
  const asked = base64Of(searchParams.get('hash') ?? '')
  if (asked === undefined) return answer(response, 422, { error: 'failed to parse hash' })
  const found = known.get(asked)
  answer(response, 200, { transactions: found === undefined ? [] : [found], address_book: {} })
}

/** Hex, base64 and its URL form are taken. */
const base64Of = (text: string): string | undefined => {
  const bytes = Buffer.from(text, /^[0-9a-fA-F]{64}$/.test(text) ? 'hex' : 'base64')
  return bytes.length === 32 ? bytes.toString('base64') : undefined
}

const answer = (response: ServerResponse, status: number, body: object): void => void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

const sha = (what: string): string => hash('sha256', what, 'base64')

/** A bag of cells with one cell, which contains these bytes. */
const bagOf = (bytes: Buffer): string =>
  Buffer.concat([Buffer.from([0xb5, 0xee, 0x9c, 0x72, 1, 1, 1, 1, 0, bytes.length + 2, 0, 0, 2 * bytes.length]), bytes]).toString('base64')

/** The body of a message: empty, or 32 zero bits and a text. */
export const contentOf = (comment?: string): Pick<TonMessage, 'opcode' | 'message_content'> => {
  const body = bagOf(comment === undefined ? Buffer.alloc(0) : Buffer.concat([Buffer.alloc(4), Buffer.from(comment)]))
  return { opcode: comment === undefined ? null : '0x00000000', message_content: { hash: sha(body), body, decoded: comment === undefined ? null : { type: 'text_comment', comment } } }
}

interface Paid extends Partial<TonTransaction> {
  readonly name?: string
  readonly from: string
  readonly to: string
  readonly nano: bigint
  readonly comment?: string
}

/** The transaction on the payee's account: a payment of 2026-11-16, one minute after noon. */
export const paid = ({ name = 'paid', from, to, nano, comment, ...more }: Paid): TonTransaction => ({
  account: to, hash: sha(name), lt: '46288993000003', now: 1_794_830_460, mc_block_seqno: 33_013_054, emulated: false,
  description: { type: 'ord', aborted: false, compute_ph: { skipped: false, success: true, exit_code: 0 }, action: { success: true } },
  in_msg: { hash: sha(`${name}, message`), source: from, destination: to, value: String(nano), bounce: true, bounced: false, ...contentOf(comment) }, out_msgs: [], ...more,
})

/** As people name it. */
export const hexOf = ({ hash: base64 }: TonTransaction): string => Buffer.from(base64, 'base64').toString('hex')
