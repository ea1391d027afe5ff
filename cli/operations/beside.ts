import type { Control } from '../../processors/engine/control.ts'
import type { Key } from '../../projections/item.ts'
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

export const checkpointsOf: Operation<OfGeneration> = async (runtime, { domain, generation }) => {
  const { store } = await runtime.pipeline(domain).generation(generation)
  return [...(await store.checkpoints())]
}

export type ControlCall =
  | { readonly verb: 'serving' | 'generations' | 'identity'; readonly domain: string }
  | { readonly verb: 'begin'; readonly domain: string; readonly holder: string; readonly foldVersion: number }
  | { readonly verb: 'renew'; readonly domain: string; readonly holder: string }
  | { readonly verb: 'follow' | 'abandon'; readonly domain: string; readonly generation: number; readonly holder: string }
  | { readonly verb: 'flip'; readonly domain: string; readonly generation: number; readonly from: readonly (readonly [number, number])[] }
  | { readonly verb: 'set-committed'; readonly domain: string; readonly group: string; readonly offsets: readonly (readonly [number, number])[] }

export const callControl: Operation<ControlCall> = async (runtime, call) => {
  const pipeline = runtime.pipeline(call.domain)
  const { control, domain, log } = pipeline
  switch (call.verb) {
    case 'serving':
      return pairs(await control.serving(domain.name))
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
      await control.flip(domain.name, { generation: call.generation, from: new Map(call.from) })
      return pipeline.refresh()
    case 'set-committed':
      return log.setCommitted(call.group, new Map(call.offsets))
  }
}

const pairs = ({ generation, from }: Awaited<ReturnType<Control['serving']>>) => ({ generation, from: [...from] })

export type ServingPairs = ReturnType<typeof pairs>
