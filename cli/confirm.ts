import { createInterface } from 'node:readline'
import { Fault } from '../schemas/fault.ts'

/** Standard input. */
export type Input = NodeJS.ReadableStream & { readonly isTTY?: boolean }

export interface Asking {
  readonly signal: AbortSignal
  readonly input: Input
  readonly output?: NodeJS.WritableStream
  /** A terminal that is read by key sends no signal for Ctrl-C. */
  readonly interrupt?: () => void
}

/** Asks on a terminal. Elsewhere the answer is yes: the command was written into a script. The end of the input is a no. */
export const confirm = async (question: string, { signal, input, output = process.stderr, interrupt = () => process.kill(process.pid, 'SIGINT') }: Asking): Promise<boolean> => {
  if (input.isTTY !== true) return true
  signal.throwIfAborted()
  const asked = createInterface({ input, output, terminal: true })
  const answer = await new Promise<string>((resolve) => {
    asked.on('SIGINT', interrupt)
    asked.once('close', () => resolve(''))
    signal.addEventListener('abort', () => asked.close(), { once: true })
    asked.question(`${question} [y/N] `, resolve)
  })
  asked.close()
  signal.throwIfAborted()
  return /^y(es)?$/i.test(answer.trim())
}

/** For what cannot be undone: on a terminal it asks, elsewhere it demands `--yes`. */
export const confirmIrreversible = async (question: string, { yes, ...asking }: Asking & { readonly yes: boolean | undefined }): Promise<boolean> => {
  if (yes === true) return true
  if (asking.input.isTTY !== true) throw new Fault('confirmation-needed', 'This cannot be undone, and there is no terminal to confirm it on. Add --yes.')
  return confirm(question, asking)
}
