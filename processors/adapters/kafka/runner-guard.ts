import { privateModule, unexpectedClient, type Require } from './pinned-client.ts'

/** The part of kafkajs' internal `Runner` that the guard uses. */
interface Runner {
  readonly running: boolean
  fetch(nodeId: number): Promise<readonly unknown[]>
}

/** The statement in `Runner.fetch` that makes a stopped consumer loop without end. */
const EARLY_RETURN = /^async fetch\(nodeId\) \{\s*if \(!this\.running\) \{[^}]*\}\)\s*return \[\]\s*\}/

/** Marks the guarded function, so that a second copy of this module in the process does not take it for other code. */
const GUARDED = Symbol.for('tributary.runner-guard')

/**
 * Prevents an endless loop in a stopped consumer of kafkajs 2.2.4.
 *
 * kafkajs rebuilds its fetchers when a broker leaves or returns. If the consumer is stopped meanwhile, the new fetchers start although the
 * runner has stopped. `Runner.fetch` then returns an empty list at once, and each fetcher calls it again in a microtask without end: no timer,
 * signal handler or request runs any more. With the guard, `Runner.fetch` throws if the runner does not run. The fetcher ends with the
 * error, and the runner's retry loop ends because the runner has stopped.
 *
 * Throws `kafka-client-unexpected` if the installed kafkajs is another version or `Runner.fetch` has other code.
 */
export function guardRunner(require?: Require): void {
  const { prototype } = privateModule('src/consumer/runner.js', require) as { readonly prototype: Runner }
  const { fetch } = prototype
  if (typeof fetch === 'function' && GUARDED in fetch) return
  if (typeof fetch !== 'function' || !EARLY_RETURN.test(fetch.toString()))
    throw unexpectedClient('Runner.fetch in src/consumer/runner.js has other code')
  const guarded = async function (this: Runner, nodeId: number) {
    if (!this.running) throw new Error('the consumer has stopped')
    return fetch.call(this, nodeId)
  }
  prototype.fetch = Object.assign(guarded, { [GUARDED]: true })
}
