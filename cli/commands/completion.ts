import type { Command } from 'commander'
import { completionScript, type Shell } from '../completion.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'

export const completion = (
  { output, domains }: Context,
  { shell, program }: { shell: Shell; program: Command },
): Promise<Exit> => {
  output.exact(completionScript(shell, { program, domains: domains.all.map(({ name }) => name) }))
  return Promise.resolve(EXIT.fine)
}
