import { setTimeout as delay } from 'node:timers/promises'
import type { Handler } from '../operations.ts'
import type { ControlArgs, ControlMethod, ControlResults } from '../operations.ts'

// The operations for a command that folds in its own process next to a server. Only the server opens the items and writes the control table.

export const scanStore: Handler<'store-scan'> = async (runtime, { domain, generation }, output) => {
  const { store } = await runtime.pipeline(domain).generation(generation)
  for await (const page of store.scan()) {
    if (output.signal.aborted) return
    await output.row(page)
  }
}

export const listSeries: Handler<'series-list'> = async (runtime, { domain, generation }, output) => {
  const { series } = await runtime.pipeline(domain).generation(generation)
  for await (const page of series?.list() ?? []) {
    if (output.signal.aborted) return
    await output.row(page)
  }
}

export const loadStore: Handler<'store-load'> = async (runtime, { domain, generation, keys }) => {
  const { store } = await runtime.pipeline(domain).generation(generation)
  return (await store.load(keys)).map((item) => item ?? null)
}

export const queryStore: Handler<'store-query'> = async (runtime, { domain, generation, query }) => {
  const { store } = await runtime.pipeline(domain).generation(generation)
  return store.reader(runtime.clock.now).query(query)
}

export const checkpointsOf: Handler<'store-checkpoints'> = async (runtime, { domain, generation }) => {
  const { store } = await runtime.pipeline(domain).generation(generation)
  return store.checkpoints()
}

/** The server pauses appends for at most this time, in milliseconds, so that a command can open the log. Then the command disconnects. */
const QUIET_MS = 10_000
/** A command opens the log only within this time after its request, in milliseconds. Within this time the pause has certainly not ended. */
export const OPENING_MS = QUIET_MS / 2

export const quietLog: Handler<'log-quiet'> = async ({ adapters: { logs } }, _, output) => {
  const untilOpened = async (): Promise<void> => {
    if (output.signal.aborted) return
    await output.row(null)
    await delay(QUIET_MS, undefined, { signal: output.signal }).catch(() => undefined)
  }
  await (logs.whileQuiet ?? ((work) => work()))(untilOpened)
}

export const verdictsOf: Handler<'marks'> = (runtime, { domain }) => runtime.pipeline(domain).verdicts.list(domain)

type ControlMethods = { readonly [M in ControlMethod]: (...args: ControlArgs[M]) => Promise<ControlResults[M]> }

export const callControl: Handler<'control'> = async (runtime, { domain, verb, args }) => {
  const { control, refresh } = runtime.pipeline(domain)
  const result = await callMethod(control, verb, args)
  // These two methods change the generations that this server follows and serves, so the server reads the control table again.
  if (verb === 'follow' || verb === 'flip') await refresh()
  return result
}

const callMethod = <M extends ControlMethod>(
  control: ControlMethods,
  method: M,
  args: ControlArgs[M],
): Promise<ControlResults[M]> => control[method](...args)

export const foldVersionOf: Handler<'folds'> = async (runtime, { domain }) =>
  runtime.pipeline(domain).domain.foldVersion

export const isFollowed: Handler<'followed'> = (runtime, { domain, group }) =>
  runtime.pipeline(domain).admin.isFollowed(group)
