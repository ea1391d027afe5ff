import { setTimeout as delay } from 'node:timers/promises'
import type { Control } from '../../processors/engine/control.ts'
import type { Key } from '../../projections/item.ts'
import type { Query } from '../../projections/table.ts'
import { Fault } from '../../schemas/fault.ts'
import type { Operation } from '../operations.ts'

/**
 * What a command that folds in its own process asks of the server that holds the folder: its items, which only the server reads whole,
 * and the control table, which only the server writes.
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

export const listSeries: Operation<OfGeneration> = async (runtime, { domain, generation }, says) => {
  const { series } = await runtime.pipeline(domain).generation(generation)
  for await (const page of series?.list() ?? []) {
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
  return store.checkpoints()
}

/** For how long the log is quiet at most. A command that opens the log hangs up when it has done so, after a few milliseconds. */
const QUIET_MS = 10_000
/** A command opens the log only within this time after its request: it is then certain that the log is still quiet. */
export const OPENING_MS = QUIET_MS / 2

/** Reports a row when the log is quiet. The log stays quiet until the command hangs up. */
export const quietLog: Operation<unknown> = async ({ adapters: { logs } }, _, says) => {
  const untilOpened = async (): Promise<void> => {
    if (says.signal.aborted) return
    await says.row(null)
    await delay(QUIET_MS, undefined, { signal: says.signal }).catch(() => undefined)
  }
  await (logs.whileQuiet ?? ((work) => work()))(untilOpened)
}

export const marksOf: Operation<{ readonly domain: string }> = (runtime, { domain }) => runtime.pipeline(domain).marks.of(domain)

/** The verbs of the control table that are asked for from beside. */
const VERBS = ['serving', 'generations', 'begin', 'resume', 'renew', 'release', 'follow', 'flip', 'verified'] as const satisfies readonly (keyof Control)[]
export type ControlVerb = (typeof VERBS)[number]

export interface ControlCall {
  readonly domain: string
  readonly verb: ControlVerb
  readonly args: readonly unknown[]
}

export const callControl: Operation<ControlCall> = async (runtime, { domain, verb, args }) => {
  if (!VERBS.includes(verb)) throw new Fault('operation-unknown', `The running server knows no "${String(verb)}" of generations. Is it of another version? Start it again with this one.`)
  const { control, refresh } = runtime.pipeline(domain)
  const answer: unknown = await (control[verb] as (...args: readonly unknown[]) => Promise<unknown>)(...args)
  // What changes who follows or serves is seen here at once.
  if (verb === 'follow' || verb === 'flip') await refresh()
  return answer
}

/** Which folds this server has: a generation of others is not followed by it. */
export const foldsOf: Operation<{ readonly domain: string }> = (runtime, { domain }) => Promise.resolve(runtime.pipeline(domain).domain.foldVersion)

export const isFollowed: Operation<{ readonly domain: string; readonly group: string }> = (runtime, { domain, group }) => runtime.pipeline(domain).log.followed(group)
