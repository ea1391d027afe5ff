import { Fault } from '../../schemas/fault.ts'
import { isObject } from '../../schemas/object.ts'
import {
  CONTROL_METHODS,
  type OperationName,
  type OperationOutput,
  type Operations,
  type Perform,
} from './operations.ts'
import type { AnswerRequest } from './socket.ts'

type Check = (value: unknown) => boolean

const text: Check = (value) => typeof value === 'string'
const number: Check = (value) => typeof value === 'number'
const boolean: Check = (value) => typeof value === 'boolean'
const list: Check = (value) => Array.isArray(value)
const record: Check = isObject
const anything: Check = () => true
const nullable =
  (check: Check): Check =>
  (value) =>
    value === null || check(value)

/** The check of a field that a request can leave out. */
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value)

const knownMethod: Check = (method) => {
  if (CONTROL_METHODS.some((known) => known === method)) return true
  throw unknown(`"${String(method)}" of generations`)
}

const ofDomain = { domain: text }
const ofGeneration = { domain: text, generation: number }

/** The check of each field in the arguments of each operation. Other fields are ignored, because a command of another release may send them. */
const CHECKS: { readonly [N in OperationName]: { readonly [F in keyof Operations[N]['args']]-?: Check } } = {
  status: {},
  'token-create': { user: text, domain: text, scopes: text, name: text },
  'token-list': { user: optional(text) },
  'token-revoke': { id: text },
  append: {
    domain: text,
    type: text,
    fields: anything,
    key: text,
    subject: optional(text),
    actor: optional(text),
    at: optional(number),
    idempotencyKey: optional(text),
  },
  events: {
    domain: text,
    key: optional(text),
    from: optional(number),
    to: optional(number),
    last: optional(number),
    follow: optional(boolean),
  },
  export: { domain: text, key: text, history: boolean },
  import: { domain: text, importId: text, lines: list },
  'import-end': { domain: text, importId: text, source: text, counts: record },
  'parked-list': { domain: optional(text), generation: optional(number) },
  'parked-show': { id: text },
  'parked-retry': { id: optional(text), all: optional(boolean) },
  'parked-discard': { id: text, reason: text, by: text },
  'parked-discarded': { domain: optional(text) },
  'asks-list': { domain: optional(text) },
  'asks-release': { id: optional(text), all: optional(boolean) },
  generations: { domain: optional(text) },
  'generations-drop': ofGeneration,
  forget: { subject: text },
  backup: { folder: text, keys: text },
  where: {},
  'log-quiet': {},
  marks: ofDomain,
  control: { domain: text, verb: knownMethod, args: list },
  folds: ofDomain,
  followed: { domain: text, group: text },
  'store-scan': ofGeneration,
  'series-list': ofGeneration,
  'store-load': { ...ofGeneration, keys: list },
  'store-query': { ...ofGeneration, query: record },
  'store-checkpoints': ofGeneration,
  command: { id: text, by: text, uid: nullable(number), host: text, command: text, at: text },
  'command-ended': { id: text, outcome: text },
}

const isArgsOf = <N extends OperationName>(name: N, args: unknown): args is Operations[N]['args'] => {
  const given = isObject(args) ? args : {}
  return Object.entries<Check>(CHECKS[name]).every(([field, check]) => check(given[field]))
}

const isOperation = (name: string): name is OperationName => Object.hasOwn(CHECKS, name)

const unknown = (what: string): Fault =>
  new Fault(
    'operation-unknown',
    `The running server has no operation ${what}, so it runs another version. Restart it with this version.`,
  )

/** Answers requests from the local socket. Fault: `operation-unknown`, or `bad-request` if the arguments are not those of the operation. */
export const answerRequests =
  (perform: Perform): AnswerRequest =>
  (name, args, output) => {
    if (!isOperation(name)) throw unknown(`"${name}"`)
    return performChecked(perform, name, { args, output })
  }

const performChecked = <N extends OperationName>(
  perform: Perform,
  name: N,
  { args, output }: { readonly args: unknown; readonly output: OperationOutput<unknown> },
): Promise<Operations[N]['result']> => {
  if (isArgsOf(name, args)) return perform(name, args, output)
  throw new Fault('bad-request', `The arguments of a request "${name}" on the local socket are not valid.`)
}
