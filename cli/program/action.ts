import type { Context, UnloadedContext } from '../context.ts'
import type { Exit } from '../output.ts'

export type Action<Options> = (context: Context, options: Options) => Promise<Exit>

/** An action that uses no domain. It also works if a package that `TRIBUTARY_DOMAINS` names cannot be loaded, for example because it is not built. */
export type ToolAction<Options> = (context: UnloadedContext, options: Options) => Promise<Exit>

/** Makes the handler of a command. The handler loads the module of the command when the command runs. */
export interface Run {
  <Options>(load: () => Promise<Action<Options>>): (options: Options) => Promise<void>
  /** Makes the handler of a command that uses no domain. This handler does not load the domains. */
  tool<Options>(load: () => Promise<ToolAction<Options>>): (options: Options) => Promise<void>
}
