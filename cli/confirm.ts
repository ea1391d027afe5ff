import { createInterface } from 'node:readline/promises'
import { Fault } from '../schemas/fault.ts'

/** Nobody to ask: what was said is meant. */
export const confirm = async (question: string): Promise<void> => {
  if (!process.stdin.isTTY) return
  const asked = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await asked.question(`${question} [y/N] `)
  asked.close()
  if (!/^y(es)?$/i.test(answer.trim())) throw new Fault('bad-usage', 'Nothing was done.')
}
