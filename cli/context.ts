import { readConfig } from '../host/config/config.ts'
import type { CommandContext } from '../host/ipc/command-context.ts'
import type { Config } from '../host/config/config.ts'
import { Fault } from '../schemas/fault.ts'
import type { Input } from './confirm.ts'
import type { Output } from './output.ts'

/** Everything that a command receives: its environment, its input and output, and the signal that stops the command. */
export interface Context extends CommandContext {
  /** The source of answers to questions, and of the JSON of `append … -`. */
  readonly input: Input
  readonly output: Output
  /** The words with which a person calls this program. Default: `tributary`. */
  readonly calledAs?: string
}

/** The context before the domains are loaded. */
export type UnloadedContext = Omit<Context, 'domains'>

export const configOf = ({ env, domains }: Context): Config => readConfig(env, domains)

/** The domain that a command uses if none is named. */
export const firstDomain = ({ domains }: Context): string => {
  const [first] = domains.all
  if (first === undefined) throw new Fault('bad-config', 'TRIBUTARY_DOMAINS selects no domain.')
  return first.name
}
