import { Fault } from '../../schemas/fault.ts'
import type { UnloadedContext } from '../context.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'

/** Runs a benchmark. The installed package contains neither the benchmarks nor their dependencies. */
export const bench = async (
  _context: UnloadedContext,
  { name, rest }: { name: string; rest: readonly string[] },
): Promise<Exit> => {
  const { benchmarks } = await needingClone(import('../../bench/benchmarks.ts'))
  const load = Object.hasOwn(benchmarks, name) ? benchmarks[name] : undefined
  if (load === undefined)
    throw new Fault('bad-usage', `There is no benchmark "${name}". There are ${Object.keys(benchmarks).join(', ')}.`)
  await (
    await needingClone(load())
  )(rest)
  return EXIT.fine
}

const needingClone = async <T>(module: Promise<T>): Promise<T> => {
  try {
    return await module
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new Fault(
      'bad-usage',
      'Benchmarks need a clone of the repository with its development dependencies. In the clone, run npm install, then npm run bench NAME.',
      { cause },
    )
  }
}
