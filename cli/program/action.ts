import type { Context } from '../context.ts'
import type { Exit } from '../output.ts'

export type Action<Options> = (context: Context, options: Options) => Promise<Exit>

/** Makes the handler of a command. The handler loads the module of the command when the command runs. */
export type Run = <Options>(load: () => Promise<Action<Options>>) => (options: Options) => Promise<void>
