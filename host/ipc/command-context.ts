import type { Domains } from '../../domains/domains.ts'
import type { Recorder } from './command-record.ts'

/** The part of a command's output that the host uses. Notes and progress go to stderr. */
export interface CommandOutput {
  note(text: string): void
  progress(text: string, share?: number): void
}

/** The part of a command's context that the host uses. */
export interface CommandContext {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The domains that this process runs. */
  readonly domains: Domains
  readonly output: CommandOutput
  readonly signal: AbortSignal
  /** Lowers the priority of this process. Called before this process folds next to a server. Default: the priority stays. */
  readonly lowerPriority?: () => void
  /** Reports the command to the log of a server. Default: nothing is reported. */
  readonly recorder?: Recorder
}
