import { createRequire } from 'node:module'
import { Fault } from '../../../schemas/fault.ts'

/** The part of kafkajs' internal `Runner` that the guard uses. */
interface Runner {
  readonly running: boolean
  fetch(nodeId: number): Promise<readonly unknown[]>
}

const PINNED = '2.2.4'
/** The statement in `Runner.fetch` that makes a stopped consumer spin. */
const EARLY_RETURN = /^async fetch\(nodeId\) \{\s*if \(!this\.running\) \{[^}]*\}\)\s*return \[\]\s*\}/

let guarded = false

/**
 * Keeps a stopped consumer of kafkajs 2.2.4 from spinning.
 *
 * kafkajs rebuilds its fetchers when a broker leaves or returns. If the consumer is stopped meanwhile, the new fetchers start although the
 * runner has stopped. `Runner.fetch` then returns an empty list at once, and each fetcher calls it again in a microtask, for ever: no timer,
 * signal handler or request runs any more. With the guard, `Runner.fetch` throws if the runner does not run. The fetcher ends with the
 * error, and the runner's retry loop ends because the runner has stopped.
 *
 * Throws `kafka-client-unexpected` if the installed kafkajs is another version or `Runner.fetch` has other code.
 */
export function guardRunner(require: (id: string) => unknown = createRequire(import.meta.url)): void {
  if (guarded) return
  const { version } = require('kafkajs/package.json') as { readonly version: string }
  if (version !== PINNED) throw unexpected(`its version is ${version}`)
  const { prototype } = require('kafkajs/src/consumer/runner.js') as { readonly prototype: Runner }
  const { fetch } = prototype
  if (typeof fetch !== 'function' || !EARLY_RETURN.test(fetch.toString())) throw unexpected('Runner.fetch in src/consumer/runner.js has other code')
  prototype.fetch = async function (this: Runner, nodeId) {
    if (!this.running) throw new Error('the consumer has stopped')
    return fetch.call(this, nodeId)
  }
  guarded = true
}

const unexpected = (difference: string): Fault =>
  new Fault('kafka-client-unexpected', `Tributary patches kafkajs ${PINNED}, but ${difference}. Install kafkajs ${PINNED}, or adapt processors/adapters/kafka/runner-guard.ts.`)
