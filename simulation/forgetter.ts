import { dropGeneration } from '../processors/engine/generations/drop.ts'
import { forget, type ForgetParts } from '../processors/engine/people/forgetting.ts'
import { openPipeline, type Pipeline } from '../processors/engine/run/pipeline.ts'
import type { BuildMachine } from './build-machine.ts'
import { LONG } from './calls.ts'
import type { Process } from './process.ts'
import type { Ports } from './world-ports.ts'
import { PACES, type World } from './world.ts'

/** A person to forget, the time of the first request, and the end of each partition at this time. */
export interface ForgettingRequest {
  readonly subject: string
  readonly requestedAt: number
  readonly ends: readonly number[]
}

/** Forgets people one after the other, in a process that can die. Repeats each request until it succeeds. */
export interface Forgetter {
  readonly forgotten: readonly ForgettingRequest[]
  done(): boolean
}

const RETRY_MS = 2_000
const POLL_MS = 300
const FOLDED_MS = 6_000
/** Longer than a pause of a process. */
const FENCED_MS = 2 * LONG
const DROP_MS = 3_000

export const startForgetter = (
  world: World,
  { subjects, buildMachine }: { subjects: readonly string[]; buildMachine: BuildMachine },
): Forgetter => {
  const forgotten: ForgettingRequest[] = []
  let request: ForgettingRequest | undefined
  const live = async (process: Process) => {
    const ports = world.ports(process)
    await ports.clock.sleep(world.random.between(0, 4_000))
    const observer = {
      batchFolded: () => undefined,
      parked: () => undefined,
      failed: (_domain: string, error: unknown) => world.failed(error),
    }
    const pipeline = await openPipeline({
      ...ports,
      processName: process.name,
      observer,
      paces: PACES,
      pollMs: POLL_MS,
    })
    while (forgotten.length < subjects.length) {
      const subject = subjects[forgotten.length] ?? ''
      request ??= { subject, requestedAt: ports.clock.now(), ends: world.topic.partitions.map(({ length }) => length) }
      try {
        const { left } = await forget(partsOf(ports, pipeline, buildMachine(process, ports)), subject)
        if (left.length > 0) throw new Error(left.join(' '))
        forgotten.push(request)
        request = undefined
      } catch (error) {
        world.failed(error)
        await ports.clock.sleep(RETRY_MS)
      }
    }
    await pipeline.stop()
  }
  if (subjects.length > 0) world.supervise('forgetter', 500, live)
  return { forgotten, done: () => forgotten.length === subjects.length }
}

const partsOf = (
  { keys, clock, stores }: Ports,
  pipeline: Pipeline,
  storage: ReturnType<BuildMachine>,
): ForgetParts => ({
  keys: keys.store,
  ring: keys.ring,
  pipelines: new Map([[pipeline.domain.name, pipeline]]),
  clock,
  timeoutMs: FOLDED_MS,
  fencedMs: FENCED_MS,
  clearBuild: async (_pipeline, generation) => storage.clear?.(generation),
  drop: async ({ domain, control, log, admin, generation: opened, closeGeneration }, generation) => {
    await dropGeneration({
      domain,
      generation,
      control,
      log,
      admin,
      clock,
      stores,
      storage,
      store: async (number) => (await opened(number)).store,
      closeGeneration: () => closeGeneration(generation),
      timeoutMs: DROP_MS,
    })
    return []
  },
})
