import { Fault } from '../schemas/fault.ts'
import type { Config } from './config.ts'
import { configOf } from './context.ts'
import type { Context } from './context.ts'
import { callHolder } from './folder.ts'
import { createPerform } from './operations.ts'
import type { OperationName } from './operations.ts'
import { saysTo } from './output.ts'
import { isEmbedded, openRuntime } from './runtime.ts'
import type { Runtime } from './runtime.ts'
import { askOver } from './socket.ts'
import type { Perform } from './socket.ts'

export interface Asking {
  readonly row?: (row: unknown) => void
  /** The operation waits for folds: where nobody else does, they run here meanwhile. */
  readonly processing?: boolean
}

/** Performs an operation where it can be: by the running server that holds the folder, or else here. */
export const ask = async (context: Context, name: OperationName, args: unknown, { row = () => undefined, processing = false }: Asking = {}): Promise<unknown> => {
  const config = configOf(context)
  const says = saysTo(context.output, context.signal, row)
  const server = await serverOf(config)
  if (server !== undefined) return server(name, args, says)
  return withRuntime(context, async (runtime) => {
    if (processing && isEmbedded(config)) for (const pipeline of runtime.pipelines.values()) await pipeline.process()
    return createPerform(runtime)(name, args, says)
  })
}

const serverOf = async (config: Config): Promise<Perform | undefined> => {
  const socket = isEmbedded(config) ? await callHolder(config.data) : undefined
  return socket === undefined ? undefined : askOver(socket)
}

/** Opens everything here for as long as `use` takes; beside a running server when there is one. */
export const withRuntime = async <T>(context: Context, use: (runtime: Runtime) => Promise<T>, beside = false): Promise<T> => {
  const config = configOf(context)
  const holder = beside && isEmbedded(config) ? await callHolder(config.data) : undefined
  holder?.destroy()
  const failed = (_domain: string, error: unknown): void => {
    context.output.progress(error instanceof Fault ? `${error.code}: ${error.message}` : String(error))
  }
  const runtime = await openRuntime({ config, folder: holder === undefined ? 'hold' : 'beside', watching: { failed } })
  try {
    return await use(runtime)
  } finally {
    await runtime.close()
  }
}
