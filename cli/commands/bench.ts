import { benchmarks } from '../../bench/benchmarks.ts'
import { Fault } from '../../schemas/fault.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'

export const bench = async (_context: Context, { name, rest }: { name: string; rest: readonly string[] }): Promise<Exit> => {
  const load = Object.hasOwn(benchmarks, name) ? benchmarks[name] : undefined
  if (load === undefined) throw new Fault('bad-usage', `There is no benchmark "${name}". There are ${Object.keys(benchmarks).join(', ')}.`)
  await (await load())(rest)
  return EXIT.fine
}
