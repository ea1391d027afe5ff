import type { Proof, Serving } from '../../processors/engine/control.ts'
import type { Turn } from '../../processors/engine/turns.ts'
import type { Key } from '../../projections/item.ts'
import type { Query } from '../../projections/table.ts'
import type { Operation } from '../operations.ts'

/**
 * What a command that folds in its own process asks of the server that holds the folder: its items, which only the server reads whole,
 * and the control table, which only the server writes. Maps travel as lists of pairs.
 */
export interface OfGeneration {
  readonly domain: string
  readonly generation: number
}

export const scanStore: Operation<OfGeneration> = async (runtime, { domain, generation }, says) => {
  const { store } = await runtime.pipeline(domain).generation(generation)
  for await (const page of store.scan()) {
    if (says.signal.aborted) return
    await says.row(page)
  }
}

export const loadStore: Operation<OfGeneration & { readonly keys: readonly Key[] }> = async (runtime, { domain, generation, keys }) => {
  const { store } = await runtime.pipeline(domain).generation(generation)
  return (await store.load(keys)).map((item) => item ?? null)
}

export const queryStore: Operation<OfGeneration & { readonly query: Query }> = async (runtime, { domain, generation, query }) => {
  const { store } = await runtime.pipeline(domain).generation(generation)
  return store.reader(runtime.clock.now).query(query)
}

export const checkpointsOf: Operation<OfGeneration> = async (runtime, { domain, generation }) => {
  const { store } = await runtime.pipeline(domain).generation(generation)
  return [...(await store.checkpoints())]
}

export type ControlCall =
  | { readonly verb: 'serving' | 'generations' | 'identity'; readonly domain: string }
  | { readonly verb: 'begin'; readonly domain: string; readonly holder: string; readonly foldVersion: number }
  | { readonly verb: 'renew'; readonly domain: string; readonly holder: string }
  | { readonly verb: 'follow' | 'abandon'; readonly domain: string; readonly generation: number; readonly holder: string }
  | { readonly verb: 'flip'; readonly domain: string; readonly to: TurnPairs; readonly seen: number }
  | { readonly verb: 'verified'; readonly domain: string; readonly proof: Proof }
  | { readonly verb: 'set-committed'; readonly domain: string; readonly group: string; readonly offsets: readonly (readonly [number, number])[] }

export const callControl: Operation<ControlCall> = async (runtime, call) => {
  const pipeline = runtime.pipeline(call.domain)
  const { control, domain, log } = pipeline
  switch (call.verb) {
    case 'serving':
      return servingPairs(await control.serving(domain.name))
    case 'generations':
      return control.generations(domain.name)
    case 'identity':
      return control.identity(domain.name)
    case 'begin':
      return control.begin({ ...domain, foldVersion: call.foldVersion }, call.holder)
    case 'renew':
      return control.renew(domain.name, call.holder)
    case 'follow':
    case 'abandon':
      await control[call.verb](domain.name, call.generation, call.holder)
      return pipeline.refresh()
    case 'flip':
      await control.flip(domain.name, turnOf(call.to), call.seen)
      return pipeline.refresh()
    case 'verified':
      return control.verified(domain.name, call.proof)
    case 'set-committed':
      return log.setCommitted(call.group, new Map(call.offsets))
  }
}

export const pairsOf = ({ generation, from, parked }: Turn) => ({ generation, from: [...from], parked: [...parked] })
export type TurnPairs = ReturnType<typeof pairsOf>
export const turnOf = ({ generation, from, parked }: TurnPairs): Turn => ({ generation, from: new Map(from), parked: new Map(parked) })

const servingPairs = (serving: Serving) => ({ ...pairsOf(serving), version: serving.version, before: serving.before.map(pairsOf) })
export type ServingPairs = ReturnType<typeof servingPairs>
export const servingOf = ({ version, before, ...turn }: ServingPairs): Serving => ({ ...turnOf(turn), version, before: before.map(turnOf) })
