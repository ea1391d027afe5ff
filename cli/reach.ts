import { Fault, messageOf } from '../schemas/fault.ts'
import { outcomeOf } from './command-record.ts'
import type { Config } from './config.ts'
import { configOf } from './context.ts'
import type { Context } from './context.ts'
import { callHolder, requireFolder } from './folder.ts'
import { createPerform } from './operations.ts'
import type { OperationName } from './operations.ts'
import { saysTo } from './output.ts'
import { isEmbedded, openRuntime } from './runtime.ts'
import type { Runtime } from './runtime.ts'
import { askOver } from './socket.ts'
import type { Perform } from './socket.ts'

export interface Asking {
  readonly name: OperationName
  readonly args?: unknown
  readonly row?: (row: unknown) => void
  readonly opening?: Opening
}

export interface Opening {
  /** What is asked waits for folds: where nobody else does, they run here meanwhile. */
  readonly processing?: boolean
  /** What is asked may be the first thing that ever happens in the data folder. */
  readonly first?: boolean
}

export type Ask = (name: OperationName, args: unknown, row?: (row: unknown) => void) => Promise<unknown>

/** Performs one operation where it can be: by the running server that holds the folder, or else here. */
export const ask = (context: Context, { name, args = {}, row, opening = {} }: Asking): Promise<unknown> =>
  asking(context, opening, (askOne) => askOne(name, args, row))

/** The same for several: what must be opened here is opened once. */
export const asking = async <T>(context: Context, { processing = false, first = false }: Opening, use: (ask: Ask) => Promise<T>): Promise<T> => {
  const config = configOf(context)
  const says = (row: (row: unknown) => void = () => undefined) => saysTo(context.output, context.signal, row)
  if (isEmbedded(config) && (await isHeld(config))) {
    await context.recorder?.announce(config.data)
    return use(async (name, args, row) => (await serverOf(config))(name, args, says(row)))
  }
  if (isEmbedded(config) && !first) requireFolder(config.data)
  return withRuntime(context, { founds: first }, async (runtime) => {
    if (processing && isEmbedded(config)) for (const pipeline of runtime.pipelines.values()) await pipeline.start('processor')
    return use((name, args, row) => createPerform(runtime)(name, args, says(row)))
  })
}

/** Whether a running server holds the data folder. */
export const isHeld = async (config: Config): Promise<boolean> => {
  const holder = await callHolder(config.data)
  holder?.destroy()
  return holder !== undefined
}

const serverOf = async (config: Config): Promise<Perform> => {
  const socket = await callHolder(config.data)
  if (socket === undefined) throw new Fault('server-gone', 'The running server ended meanwhile. Repeat the command.', { retriable: true })
  return askOver(socket)
}

/** Opens everything here for as long as `use` takes. Creates nothing unless it `founds`. */
export const withRuntime = async <T>(context: Context, { founds }: { readonly founds: boolean }, use: (runtime: Runtime) => Promise<T>): Promise<T> => {
  const config = configOf(context)
  const failed = (_domain: string, error: unknown): void => {
    context.output.progress(error instanceof Fault ? `${error.code}: ${error.message}` : String(error))
  }
  const runtime = await openRuntime({ config, watching: { failed }, note: (line) => context.output.note(line), founds })
  const leave = async (outcome: string): Promise<void> => {
    await context.recorder?.leave(runtime.records, outcome, isEmbedded(config)).catch((error: unknown) => context.output.note(`No server will log this command: its record could not be written (${messageOf(error)}).`))
  }
  try {
    const result = await use(runtime)
    await leave('done')
    return result
  } catch (error) {
    await leave(outcomeOf(error))
    throw error
  } finally {
    await runtime.close()
  }
}
