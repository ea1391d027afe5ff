import { readConfig } from './config.ts'
import type { Recorder } from './command-record.ts'
import type { Config } from './config.ts'
import type { Input } from './confirm.ts'
import type { Output } from './output.ts'

/** What every command gets: where it runs, where it speaks, and when it should stop. */
export interface Context {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Where answers to questions and the JSON of `append … -` come from. */
  readonly input: Input
  readonly output: Output
  readonly signal: AbortSignal
  /** Lowers the priority of this process, before it folds next to a server. Default: the priority stays. */
  readonly giveWay?: () => void
  /** Reports the command to the log of a server. Default: nothing is reported. */
  readonly recorder?: Recorder
}

export const configOf = ({ env }: Context): Config => readConfig(env)
