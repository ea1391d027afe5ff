import type { Command } from 'commander'
import { OUR_DOMAINS } from '../../domains/list.ts'
import { completionScript, type Shell } from '../completion.ts'
import type { UnloadedContext } from '../context.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'

export const completion = (
  { output }: UnloadedContext,
  { shell, program }: { shell: Shell; program: Command },
): Promise<Exit> => {
  output.exact(completionScript(shell, { program, domains: OUR_DOMAINS.all.map(({ name }) => name) }))
  return Promise.resolve(EXIT.fine)
}
