import { watch } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { GenerationRow } from '../../host/ipc/operations/generations.ts'
import { createRandom, type Random } from '../../simulation/random.ts'
import { differencesOf, expectedDays, progress, startLoad } from './load.ts'
import type { Load } from './load.ts'
import { client, newToken, startCommand, startServer, runOk } from './program.ts'
import type { Env, Ran, Server, Started } from './program.ts'

/** The operation that runs during the load when the test kills a process. */
type Doing = 'load' | 'rebuild' | 'resume' | 'flip' | 'drop'
type Victim = 'server' | 'command' | 'both'
type Row = Pick<GenerationRow, 'generation' | 'state' | 'items'>

export interface KillOptions {
  readonly env: Env & { readonly TRIBUTARY_DATA: string }
  readonly cycles: number
  readonly seed: number
  /** Called after every cycle with its result. */
  readonly report: (line: string) => void
}

export interface Killed {
  readonly cycles: number
  readonly acknowledged: number
  /** Number of kills by operation, killed process and resulting state. */
  readonly moments: ReadonlyMap<string, number>
  /** Lost or doubled events, and refused or failed requests. Must stay empty. */
  readonly problems: readonly string[]
}

interface World extends KillOptions {
  readonly random: Random
  readonly tokens: readonly string[]
  readonly problems: string[]
  readonly moments: Map<string, number>
  /** The expected summary of each user and day. */
  readonly sums: Map<string, ReturnType<typeof expectedDays>>
  server: Server
  rows: readonly Row[]
  /** How often a complete rebuild writes to the control table, and its duration. */
  whole: { readonly changes: number; readonly ms: number }
}

const CONNECTIONS = 6
const FIRST_ACKS = 1_000
const KEYS_A_CYCLE = 1_000_000
const MOST_GENERATIONS = 4
/** A command that runs longer than this counts as hanging. */
const HANGS_MS = 180_000

/** Runs the embedded program under load and kills it by SIGKILL repeatedly. After every cycle, compares its items with all acknowledged requests. */
export const killCycles = async (options: KillOptions): Promise<Killed> => {
  const { env, cycles, seed, report } = options
  const server = await startServer(env)
  const tokens = [await newToken(env, 'ann'), await newToken(env, 'bob'), await newToken(env, 'cyd')]
  const world: World = {
    ...options,
    random: createRandom(seed),
    tokens,
    problems: [],
    moments: new Map(),
    sums: new Map(),
    server,
    rows: [],
    whole: { changes: 1, ms: 1 },
  }
  await inLoad(world, 0, (load) => progress(load, server, FIRST_ACKS))
  await measure(world)
  for (let cycle = 1; cycle <= cycles && world.problems.length === 0; cycle += 1) {
    const moment = await cycleOf(world, cycle)
    world.moments.set(moment, (world.moments.get(moment) ?? 0) + 1)
    report(`cycle ${cycle} of ${cycles}: ${moment}`)
  }
  if (world.problems.length === 0) await proveAll(world)
  const acknowledged = [...world.sums.values()].flat().reduce((sum, { meals }) => sum + meals, 0)
  return { cycles, acknowledged, moments: world.moments, problems: world.problems }
}

/** Sends load for one day while `during` runs. Afterwards repeats each request until it is acknowledged, and compares the day. */
const inLoad = async (world: World, cycle: number, during: (load: Load) => Promise<void>): Promise<void> => {
  const day = new Date(Date.UTC(2020, 0, 1 + cycle)).toISOString().slice(0, 10)
  const at = { url: () => world.server.url, tokens: world.tokens, day }
  const load = startLoad({ ...at, connections: CONNECTIONS, first: cycle * KEYS_A_CYCLE })
  await during(load)
  await load.stop()
  await load.settle(at.url)
  world.sums.set(day, expectedDays(load, at))
  world.problems.push(...load.unexpected, ...(await differencesOf(load, at)), ...(await earlierDays(world)))
}

/** Returns the differences between the shown and the expected sums, for all users and all days so far. */
const earlierDays = async ({ server, tokens, sums }: World): Promise<readonly string[]> => {
  const found = await Promise.all(
    tokens.map(async (token, user) => {
      const wrong: string[] = []
      const shown = await summariesOf(server.url, token)
      for (const [day, expected] of sums) {
        const wanted = JSON.stringify(expected[user]?.meals === 0 ? undefined : expected[user])
        const got = JSON.stringify(shown.get(day))
        if (got !== wanted) wrong.push(`${day}: the summary is ${got}, the sum of the meals is ${wanted}`)
      }
      return wrong
    }),
  )
  return found.flat()
}

const summariesOf = async (
  url: string,
  token: string,
): Promise<ReadonlyMap<string, { meals: number; milliCalories: number }>> => {
  const days = new Map<string, { meals: number; milliCalories: number }>()
  for (let cursor: unknown = ''; typeof cursor === 'string';) {
    const { body } = await client(url, token).get(
      `/v1/summaries?from=2020-01-01&to=2029-12-31&limit=200${cursor === '' ? '' : `&cursor=${cursor}`}`,
    )
    for (const { userDate, mealCount, totalCalories } of body['items'] as readonly {
      userDate: string
      mealCount: number
      totalCalories: number
    }[]) {
      days.set(userDate, { meals: mealCount, milliCalories: Math.round(totalCalories * 1000) })
    }
    cursor = body['cursor']
  }
  return days
}

const rowsOf = async ({ env }: Pick<World, 'env'>): Promise<readonly Row[]> =>
  (await runOk(['generations', 'meals', '--json'], env)).split('\n').map((line) => JSON.parse(line) as Row)

/** Measures one undisturbed rebuild: its writes to the control table and its duration. */
const measure = async (world: World): Promise<void> => {
  const watching = controlChanges(world.env)
  const began = Date.now()
  await runOk(['rebuild', 'meals', '--yes'], world.env)
  world.whole = { changes: Math.max(1, watching.seen()), ms: Date.now() - began }
  watching.stop()
  world.rows = await rowsOf(world)
}

/** Watches the files of the control table. Every step of a rebuild, a flip and a drop writes to them, so the test can kill at a given step. */
const controlChanges = ({ TRIBUTARY_DATA }: KillOptions['env']) => {
  const stopping = new AbortController()
  let seen = 0
  let wake = (): void => {}
  watch(join(TRIBUTARY_DATA, 'tables', 'tributary-control', 'g1'), { signal: stopping.signal }, () => {
    seen += 1
    wake()
  })
  const after = (count: number): Promise<void> =>
    new Promise((resolve) => {
      wake = () => (seen >= count ? resolve() : undefined)
      wake()
    })
  return { seen: () => seen, after, stop: () => stopping.abort() }
}

const cycleOf = async (world: World, cycle: number): Promise<string> => {
  const { random } = world
  const doing = chooseDoing(world)
  const victim: Victim = doing === 'load' ? 'server' : random.pick(['server', 'command', 'both'])
  const before = world.rows
  await inLoad(world, cycle, async (load) => {
    await progress(load, world.server, random.between(1, 60))
    if (doing !== 'load') return killDuring(world, doing, victim)
    await delay(random.between(0, 10))
    await killServer(world)
  })
  if (doing === 'load') return doing
  world.rows = await rowsOf(world)
  const moment = `${doing}, ${victim} killed, ${leftBy(before, world.rows)}`
  await tidy(world)
  return moment
}

const chooseDoing = ({ random, rows }: World): Doing => {
  const idle = rows.filter(({ state }) => state === 'following')
  const half = rows.filter(({ state }) => state === 'half-built' || state === 'building')
  return random.pick<Doing>([
    'load',
    'load',
    'load',
    'rebuild',
    'rebuild',
    ...(half.length > 0 ? (['resume', 'resume'] as const) : []),
    ...(idle.length > 0 ? (['flip', 'flip'] as const) : []),
    ...(idle.length > 1 ? (['drop'] as const) : []),
  ])
}

const killServer = async (world: World, command?: Started): Promise<void> => {
  world.server.kill('SIGKILL')
  await world.server.ended
  world.server = await startServer(world.env).catch(async (error: unknown) => {
    // The command of the cycle found no server, so it locked the folder. The server can start when the command has ended.
    if (command === undefined || !String(error).includes('data-folder-in-use')) throw error
    await command.ended
    return startServer(world.env)
  })
}

const commandOf = ({ random, rows }: World, doing: Exclude<Doing, 'load'>): readonly string[] => {
  const other = () => String(random.pick(rows.filter(({ state }) => state === 'following')).generation)
  if (doing === 'flip') return ['flip', 'meals', '--to', other()]
  if (doing === 'drop') return ['generations', 'meals', '--drop', other(), '--yes']
  const items = rows.find(({ state }) => state === 'serving')?.items ?? 0
  // Makes 6 of 10 rebuilds so slow that they can be killed while they fold.
  const slowly = random.chance(0.6) ? ['--max-writes-per-second', String(Math.max(500, Math.ceil(items / 2)))] : []
  return ['rebuild', 'meals', '--yes', ...slowly, ...(doing === 'resume' ? ['--resume'] : [])]
}

const killDuring = async (world: World, doing: Exclude<Doing, 'load'>, victim: Victim): Promise<void> => {
  const { random, whole, env } = world
  const watching = controlChanges(env)
  const command = startCommand(commandOf(world, doing), env)
  const steps = doing === 'flip' ? 1 : doing === 'drop' ? 3 : whole.changes
  const atStep = random.chance(0.7) ? watching.after(random.between(1, steps)) : delay(random.between(0, whole.ms))
  await Promise.race([atStep, command.ended])
  await delay(random.between(0, 5))
  watching.stop()
  if (victim !== 'server') command.kill('SIGKILL')
  // If the command ended before its kill, the test kills the server instead.
  const isOver = victim === 'command' && (await command.ended).code !== null
  if (victim !== 'command' || isOver) await killServer(world, command)
  await judge(world, command, victim)
}

const judge = async ({ problems }: World, { ended, kill }: Started, victim: Victim): Promise<void> => {
  const patience = new AbortController()
  void delay(HANGS_MS, undefined, { signal: patience.signal }).then(
    () => {
      problems.push('a command that nobody killed does not end')
      kill('SIGKILL')
    },
    () => undefined,
  )
  const { code, stderr }: Ran = await ended
  patience.abort()
  // If the server was killed, a command may report that the server is gone, that no processor follows a generation, or that the next server has
  // locked the folder.
  const isExcused = victim === 'server' && /server-gone|data-folder-in-use|generation-unfollowed/.test(stderr)
  if (code !== null && code !== 0 && !isExcused)
    problems.push(`a command that nobody killed ended with ${code}: ${stderr}`)
}

const leftBy = (before: readonly Row[], after: readonly Row[]): string => {
  const serving = (rows: readonly Row[]) => rows.find(({ state }) => state === 'serving')?.generation
  if (serving(before) !== serving(after)) return 'after the flip'
  const last = after.at(-1)
  if (last !== undefined && !before.some(({ generation }) => generation === last.generation))
    return last.state === 'following' ? 'before the flip' : 'in the middle of the build'
  const changed = after.find(
    ({ generation, state }) => before.find((each) => each.generation === generation)?.state !== state,
  )
  if (changed !== undefined) return changed.state === 'dropping' ? 'in the middle of the drop' : 'before the flip'
  return after.length < before.length ? 'after the drop' : 'nothing changed'
}

/** Drops generations that do not serve, so that in a long run the program does not follow more and more generations. */
const tidy = async (world: World): Promise<void> => {
  for (const { generation, state } of world.rows) {
    if (world.rows.length < MOST_GENERATIONS && state !== 'dropping') continue
    if (state === 'serving') continue
    await runOk(['generations', 'meals', '--drop', String(generation), '--yes'], world.env)
    world.rows = await rowsOf(world)
  }
}

/** Completes half-built generations. Then each remaining generation serves once and is verified. */
const proveAll = async (world: World): Promise<void> => {
  const { env, problems } = world
  const half = (await rowsOf(world)).some(({ state }) => state === 'half-built' || state === 'building')
  await runOk(['rebuild', 'meals', '--yes', ...(half ? ['--resume'] : [])], env)
  const complete = (await rowsOf(world)).filter(({ state }) => state === 'serving' || state === 'following')
  for (const { generation } of complete) {
    await runOk(['flip', 'meals', '--to', String(generation)], env)
    const { code, stdout } = await startCommand(['verify'], env).ended
    if (code !== 0) problems.push(`verify of generation ${generation} ended with ${code}: ${stdout}`)
    problems.push(...(await earlierDays(world)))
  }
  if ((await world.server.stop()) !== 0) problems.push(`the server did not stop well: ${world.server.stderr()}`)
  const { code, stdout } = await startCommand(['verify'], env).ended
  if (code !== 0) problems.push(`verify with the server stopped ended with ${code}: ${stdout}`)
}
