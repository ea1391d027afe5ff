import { createInterface } from 'node:readline'

export interface Asking {
  readonly signal: AbortSignal
  readonly input?: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly output?: NodeJS.WritableStream
  /** A terminal that is read by key sends no signal for Ctrl-C. */
  readonly interrupt?: () => void
}

/** Whether it is meant. Nobody to ask: what was said is. The end of the input is a no. */
export const confirm = async (question: string, { signal, input = process.stdin, output = process.stderr, interrupt = () => process.kill(process.pid, 'SIGINT') }: Asking): Promise<boolean> => {
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
