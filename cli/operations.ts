import { Fault } from '../schemas/fault.ts'
import { appendEvent } from './operations/append.ts'
import { backUp } from './operations/backup.ts'
import { callControl, checkpointsOf, foldsOf, isFollowed, listSeries, loadStore, marksOf, queryStore, quietLog, scanStore } from './operations/beside.ts'
import { readEvents } from './operations/events.ts'
import { exportKey } from './operations/export.ts'
import { dropOne, listGenerations } from './operations/generations.ts'
import { forgetPerson } from './operations/forget.ts'
import { endImport, importLines } from './operations/import.ts'
import { discardParked, listDiscarded, listParked, retryParked, showParked } from './operations/parked.ts'
import { createToken, listTokens, revokeToken } from './operations/token.ts'
import type { Runtime } from './runtime.ts'
import { statusOf } from './standing.ts'
import type { Perform, Says } from './socket.ts'

/** A verb on what is open. It says rows as it finds them and answers with what remains to be said. */
export type Operation<Args> = (runtime: Runtime, args: Args, says: Says) => Promise<unknown>

const OPERATIONS = {
  'status': (runtime) => statusOf(runtime),
  'token-create': createToken as Operation<unknown>,
  'token-list': listTokens as Operation<unknown>,
  'token-revoke': revokeToken as Operation<unknown>,
  'append': appendEvent as Operation<unknown>,
  'events': readEvents as Operation<unknown>,
  'export': exportKey as Operation<unknown>,
  'import': importLines as Operation<unknown>,
  'import-end': endImport as Operation<unknown>,
  'parked-list': listParked as Operation<unknown>,
  'parked-show': showParked as Operation<unknown>,
  'parked-retry': retryParked as Operation<unknown>,
  'parked-discard': discardParked as Operation<unknown>,
  'parked-discarded': listDiscarded as Operation<unknown>,
  'generations': listGenerations as Operation<unknown>,
  'generations-drop': dropOne as Operation<unknown>,
  'forget': forgetPerson as Operation<unknown>,
  'backup': backUp as Operation<unknown>,
  'where': (runtime) => Promise.resolve({ http: runtime.where.http ?? null, admin: runtime.where.admin ?? null, mqtt: runtime.where.mqtt ?? null }),
  'log-quiet': quietLog,
  'marks': marksOf as Operation<unknown>,
  'control': callControl as Operation<unknown>,
  'folds': foldsOf as Operation<unknown>,
  'followed': isFollowed as Operation<unknown>,
  'store-scan': scanStore as Operation<unknown>,
  'series-list': listSeries as Operation<unknown>,
  'store-load': loadStore as Operation<unknown>,
  'store-query': queryStore as Operation<unknown>,
  'store-checkpoints': checkpointsOf as Operation<unknown>,
} as const satisfies Record<string, Operation<unknown>>

export type OperationName = keyof typeof OPERATIONS

export const createPerform = (runtime: Runtime): Perform => (name, args, says) => {
  const operation: Operation<unknown> | undefined = Object.hasOwn(OPERATIONS, name) ? OPERATIONS[name as OperationName] : undefined
  if (operation === undefined) throw new Fault('operation-unknown', `The running server knows no "${name}". Is it of another version? Start it again with this one.`)
  return operation(runtime, args, says)
}
