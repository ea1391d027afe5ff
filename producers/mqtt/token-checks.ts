import type { Client } from 'aedes'
import { Problem } from '../http/problem.ts'
import type { Login, Refuse } from './login.ts'

export interface TokenCheckParts {
  readonly clients: ReadonlyMap<string, Client>
  readonly login: Pick<Login, 'verify' | 'verifiedAt'>
  readonly refuse: Refuse
  readonly now: () => number
  /** A token that was read no longer ago than this is not read again. */
  readonly maxAgeMs: number
}

const CONCURRENT_READS = 50

/** Reads the tokens of silent connections again, and closes the connections whose token has ended. */
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
    /** Does nothing while an earlier run is under way. */
    run: (): Promise<void> => (running ??= run().finally(() => (running = undefined))),
    /** Waits for a run that is under way. */
    settled: async (): Promise<void> => running,
  }
}
