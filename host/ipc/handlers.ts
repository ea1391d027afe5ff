import { statusRowsOf } from '../serving/domain-status.ts'
import type { Runtime } from '../wiring/runtime.ts'
import { commandHandlers, type EndedCommand } from './command-record.ts'
import type { Handler, Operations, Perform } from './operations.ts'
import { appendEvent } from './operations/append.ts'
import { listAsks, releaseAsks } from './operations/asks.ts'
import { backUp } from './operations/backup.ts'
import { readEvents } from './operations/events.ts'
import { exportKey } from './operations/export.ts'
import { forgetPerson } from './operations/forget.ts'
import { dropOne, listGenerations } from './operations/generations.ts'
import { endImport, importLines } from './operations/import.ts'
import { discardParked, listDiscarded, listParked, retryParked, showParked } from './operations/parked.ts'
import {
  callControl,
  checkpointsOf,
  foldVersionOf,
  isFollowed,
  listSeries,
  loadStore,
  verdictsOf,
  queryStore,
  quietLog,
  scanStore,
} from './operations/server-access.ts'
import { createToken, listTokens, revokeToken } from './operations/token.ts'

type Handlers = { readonly [N in keyof Operations]: Handler<N> }

const addressesOf: Handler<'where'> = async ({ where: { http, admin, mqtt } }) => ({
  http: http ?? null,
  admin: admin ?? null,
  mqtt: mqtt ?? null,
})

const HANDLERS: Omit<Handlers, 'command' | 'command-ended'> = {
  status: statusRowsOf,
  'token-create': createToken,
  'token-list': listTokens,
  'token-revoke': revokeToken,
  append: appendEvent,
  events: readEvents,
  export: exportKey,
  import: importLines,
  'import-end': endImport,
  'parked-list': listParked,
  'parked-show': showParked,
  'parked-retry': retryParked,
  'parked-discard': discardParked,
  'parked-discarded': listDiscarded,
  'asks-list': listAsks,
  'asks-release': releaseAsks,
  generations: listGenerations,
  'generations-drop': dropOne,
  forget: forgetPerson,
  backup: backUp,
  where: addressesOf,
  'log-quiet': quietLog,
  marks: verdictsOf,
  control: callControl,
  folds: foldVersionOf,
  followed: isFollowed,
  'store-scan': scanStore,
  'series-list': listSeries,
  'store-load': loadStore,
  'store-query': queryStore,
  'store-checkpoints': checkpointsOf,
}

/** Performs operations on an open runtime. `log` receives each announced command when it has ended. Default: nothing is logged. */
export const createPerform = (runtime: Runtime, log: (ended: EndedCommand) => void = () => undefined): Perform => {
  const handlers: Handlers = { ...HANDLERS, ...commandHandlers(log) }
  return (name, args, output) => handlers[name](runtime, args, output)
}
