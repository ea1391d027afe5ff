import { createAskClaims } from '../../../processors/engine/asks/claims.ts'
import { countAsks, waitingAsks, type CountedAsks, type WaitingAsk } from '../../../processors/engine/asks/waiting.ts'
import { endsOf } from '../../../processors/engine/generations/positions.ts'
import type { Pipeline } from '../../../processors/engine/run/pipeline.ts'
import { Fault } from '../../../schemas/fault.ts'
import type { Runtime } from '../../wiring/runtime.ts'
import type { Handler } from '../operations.ts'

/** A call to the outside that waits for an operator. */
export interface WaitingAskRow {
  readonly id: string
  readonly domain: string
  readonly kind: string
  readonly name: string
  readonly key: string
  /** The time from which the call can be made, RFC 3339. */
  readonly due: string
  /** The position of the event that asked. */
  readonly position: string
  readonly reason: WaitingAsk['reason']
}

/** `id`: one waiting call. `all`: every waiting call. Exactly one of both is set. */
export interface AskChoice {
  readonly id?: string
  readonly all?: boolean
}

export interface ReleasedAsks {
  /** The ids of the released calls. */
  readonly released: readonly string[]
}

export const listAsks: Handler<'asks-list'> = async (runtime, { domain }, output) => {
  for (const pipeline of domain === undefined ? runtime.pipelines.values() : [runtime.pipeline(domain)])
    for await (const ask of waitingIn(runtime, pipeline)) await output.row(rowOf(pipeline, ask))
}

export const releaseAsks: Handler<'asks-release'> = async (runtime, { id, all }) => {
  const released: string[] = []
  for (const pipeline of runtime.pipelines.values())
    for await (const { row } of waitingIn(runtime, pipeline))
      if ((all === true || row.id === id) && (await claimsIn(runtime).release(row)) === 'released')
        released.push(row.id)
  if (id !== undefined && released.length === 0)
    throw new Fault('ask-not-waiting', `No call with the id ${id} waits for an operator. See: tributary asks.`)
  return { released }
}

/** Counts the calls of a domain that are due, and those that wait for an operator. */
export const countAsksOf = async (runtime: Runtime, pipeline: Pipeline): Promise<CountedAsks> =>
  pipeline.domain.asks === undefined
    ? { due: 0, waiting: 0 }
    : countAsks({ ...(await asksIn(pipeline)), now: runtime.clock.now() }, claimsIn(runtime))

async function* waitingIn(runtime: Runtime, pipeline: Pipeline): AsyncGenerator<WaitingAsk> {
  if (pipeline.domain.asks !== undefined)
    yield* waitingAsks({ ...(await asksIn(pipeline)), now: runtime.clock.now() }, claimsIn(runtime))
}

const asksIn = async ({ domain, control, log, generation }: Pipeline) => {
  const period = await control.serving(domain.name)
  const { store } = await generation(period.generation)
  return { reader: store.reader(() => 0), partitions: (await endsOf(log)).size, period }
}

const claimsIn = ({ ledger, clock, processName }: Runtime) => createAskClaims({ store: ledger, clock, processName })

const rowOf = ({ domain }: Pipeline, { row, partition, reason }: WaitingAsk): WaitingAskRow => ({
  id: row.id,
  domain: domain.name,
  kind: row.kind,
  name: row.name,
  key: row.key,
  due: new Date(row.at).toISOString(),
  position: `${partition}:${row._pos}`,
  reason,
})
