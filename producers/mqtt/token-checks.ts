import type { Client } from 'aedes'
import { Problem } from '../http/problem.ts'
import type { Login, Refuse } from './login.ts'

export interface TokenCheckParts {
  readonly clients: ReadonlyMap<string, Client>
  readonly login: Pick<Login, 'verify' | 'verifiedAt'>
  readonly refuse: Refuse
  readonly now: () => number
  /** A token is read again only if its latest read is at least this time ago. */
  readonly maxAgeMs: number
}

const CONCURRENT_READS = 50

/** Reads the tokens of devices that send no messages again, and closes the connections whose token has ended. */
export const createTokenChecks = ({ clients, login, refuse, now, maxAgeMs }: TokenCheckParts) => {
  let running: Promise<void> | undefined

  const check = async (client: Client): Promise<void> => {
    try {
      await login.verify(client.id)
    } catch (error) {
      // If the store does not answer, the connection stays: the next message or the next check decides.
      if (!(error instanceof Problem)) return
      refuse(client, 'token', error.message)
      client.close()
    }
  }
  const run = async (): Promise<void> => {
    const due = [...clients.values()].filter(({ id }) => now() - login.verifiedAt(id) >= maxAgeMs)
    for (let at = 0; at < due.length; at += CONCURRENT_READS)
      await Promise.all(due.slice(at, at + CONCURRENT_READS).map(check))
  }
  return {
    /** Checks all tokens that were not read for `maxAgeMs`. If an earlier call still runs, only waits for it. */
    run: (): Promise<void> => (running ??= run().finally(() => (running = undefined))),
    /** Waits for the current run, if there is one. */
    settled: async (): Promise<void> => running,
  }
}
