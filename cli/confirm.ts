import { createInterface } from 'node:readline'
import { Fault } from '../schemas/fault.ts'

/** Standard input. */
export type Input = NodeJS.ReadableStream & { readonly isTTY?: boolean }

export interface ConfirmOptions {
  readonly signal: AbortSignal
  readonly input: Input
  readonly output?: NodeJS.WritableStream
  /** Called for Ctrl-C, because a terminal that readline reads key by key sends no signal. Default: sends SIGINT to this process. */
  readonly interrupt?: () => void
}

/**
 * Asks the user on a terminal. Resolves to true for the answer y or yes. Resolves to false for other answers and if the input ends. Without a
 * terminal, asks nothing and resolves to true, because the command is part of a script.
 */
export const confirm = async (
  question: string,
  { signal, input, output = process.stderr, interrupt = () => process.kill(process.pid, 'SIGINT') }: ConfirmOptions,
): Promise<boolean> => {
  if (input.isTTY !== true) return true
  signal.throwIfAborted()
  const prompt = createInterface({ input, output, terminal: true })
  const answer = await new Promise<string>((resolve) => {
    prompt.on('SIGINT', interrupt)
    prompt.once('close', () => resolve(''))
    signal.addEventListener('abort', () => prompt.close(), { once: true })
    prompt.question(`${question} [y/N] `, resolve)
  })
  prompt.close()
  signal.throwIfAborted()
  return /^y(es)?$/i.test(answer.trim())
}

/** Confirms an action that cannot be undone. With `yes`, asks nothing. Fault: `confirmation-needed` without a terminal and without `yes`. */
export const confirmIrreversible = async (
  question: string,
  { yes, ...options }: ConfirmOptions & { readonly yes: boolean | undefined },
): Promise<boolean> => {
  if (yes === true) return true
  if (options.input.isTTY !== true)
    throw new Fault(
      'confirmation-needed',
      'This cannot be undone, and there is no terminal to confirm it on. Add --yes.',
    )
  return confirm(question, options)
}
