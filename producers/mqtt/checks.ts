import type { Client } from 'aedes'
import { Problem } from '../http/problem.ts'
import type { Login, Refuse } from './login.ts'

export interface CheckParts {
  readonly clients: ReadonlyMap<string, Client>
  readonly login: Pick<Login, 'confirm' | 'confirmedAt'>
  readonly refuse: Refuse
  readonly now: () => number
  /** A token that was read no longer ago than this is not read again. */
  readonly maxAgeMs: number
}

/** Tokens that are read at the same time. */
const TOGETHER = 50

/** Reads the tokens of silent connections again, and closes the connections whose token has ended. */
export const createChecks = ({ clients, login, refuse, now, maxAgeMs }: CheckParts) => {
  let running: Promise<void> | undefined

  const check = async (client: Client): Promise<void> => {
    try {
      await login.confirm(client.id)
    } catch (error) {
      // If the store does not answer, the connection stays: the next message or the next check decides.
      if (!(error instanceof Problem)) return
      refuse(client, 'token', error.message)
      client.close()
    }
  }
  const run = async (): Promise<void> => {
    const due = [...clients.values()].filter(({ id }) => now() - login.confirmedAt(id) >= maxAgeMs)
    for (let at = 0; at < due.length; at += TOGETHER) await Promise.all(due.slice(at, at + TOGETHER).map(check))
  }
  return {
    /** Does nothing while an earlier run is under way. */
    run: (): Promise<void> => (running ??= run().finally(() => (running = undefined))),
    settled: async (): Promise<void> => running,
  }
}
