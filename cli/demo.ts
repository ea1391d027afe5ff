import type { NewToken } from './operations/token.ts'
import type { Ask } from './reach.ts'

export interface DemoOptions {
  readonly domain: string
  readonly seconds: number
  readonly rate: number
  readonly seed: number
  readonly json?: true
}

/** What was sent, and what became of it. */
export interface Tally {
  readonly statuses: Map<number, number>
  readonly millis: number[]
  failed: number
  /** How to see what came of it. */
  look?: string
}

/** Where a demo sends what it makes up. */
export interface DemoPlace {
  readonly ask: Ask
  readonly url: string
  /** Null where devices cannot speak. */
  readonly mqtt: string | null
  readonly tally: Tally
}

export const tokenOf = async (ask: Ask, user: string, domain: string): Promise<string> =>
  ((await ask('token-create', { user, domain, scopes: 'read,write', name: 'demo' })) as NewToken).token
