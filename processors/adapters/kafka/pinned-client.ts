import { createRequire } from 'node:module'
import { Fault } from '../../../schemas/fault.ts'

export type Require = (id: string) => unknown

const PINNED = '2.2.4'

/**
 * Loads a private module of kafkajs, for example `src/protocol/encoder.js`.
 * Throws `kafka-client-unexpected` if the installed kafkajs is another version than the one whose private parts this adapter uses.
 */
export function privateModule(path: string, require: Require = createRequire(import.meta.url)): unknown {
  const { version } = require('kafkajs/package.json') as { readonly version: string }
  if (version !== PINNED) throw unexpectedClient(`its version is ${version}`)
  return require(`kafkajs/${path}`)
}

export const unexpectedClient = (difference: string): Fault =>
  new Fault(
    'kafka-client-unexpected',
    `Tributary uses private parts of kafkajs ${PINNED}, but ${difference}. Install kafkajs ${PINNED}, or adapt processors/adapters/kafka/pinned-client.ts and the files that import it.`,
  )
