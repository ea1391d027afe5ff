import { dropGeneration } from '../../processors/engine/drop.ts'
import { forget, type ForgetParts } from '../../processors/engine/forgetting.ts'
import { openPipeline, type Pipeline } from '../../processors/engine/pipeline.ts'
import type { Desk } from './desk.ts'
import type { Process } from './scheduler.ts'
import { PACES, type Ports, type World } from './world.ts'

/** Somebody who asked to be forgotten, and what the log held when they first asked. */
export interface Asked {
  readonly subject: string
  readonly ends: readonly number[]
}

/** The one who forgets people, in a process that dies like any other; who asked for it asks again until it is done. */
export interface Forgetter {
  readonly forgotten: readonly Asked[]
  done(): boolean
}

const AGAIN_MS = 2_000
const POLL_MS = 300
const FOLDED_MS = 6_000
const DROP_MS = 3_000

export const startForgetter = (world: World, { subjects, desk }: { subjects: readonly string[]; desk: Desk }): Forgetter => {
  const forgotten: Asked[] = []
  let asked: Asked | undefined
  const live = async (process: Process) => {
    const ports = world.ports(process)
    await ports.clock.sleep(world.random.between(0, 4_000))
    const watching = { passed: () => undefined, parked: () => undefined, failed: (_domain: string, error: unknown) => world.failed(error) }
    const pipeline = await openPipeline({ ...ports, holder: process.name, watching, paces: PACES, pollMs: POLL_MS })
    while (forgotten.length < subjects.length) {
      const subject = subjects[forgotten.length] ?? ''
      asked ??= { subject, ends: world.topic.partitions.map(({ length }) => length) }
      try {
        const { left } = await forget(partsOf(ports, pipeline, desk(process, ports)), subject)
        if (left.length > 0) throw new Error(left.join(' '))
        forgotten.push(asked)
        asked = undefined
      } catch (error) {
        world.failed(error)
        await ports.clock.sleep(AGAIN_MS)
      }
    }
    await pipeline.stop()
  }
  if (subjects.length > 0) world.keep('forgetter', 500, live)
  return { forgotten, done: () => forgotten.length === subjects.length }
}

const partsOf = ({ keys, clock, stores }: Ports, pipeline: Pipeline, workshop: ReturnType<Desk>): ForgetParts => ({
  keys: keys.store,
  ring: keys.ring,
  pipelines: new Map([[pipeline.domain.name, pipeline]]),
  clock,
  timeoutMs: FOLDED_MS,
  clearBuild: async (_pipeline, generation) => workshop.clear?.(generation),
  drop: async ({ domain, control, log, generation: opened, letGo }, generation) => {
    await dropGeneration({ domain, generation, control, log, clock, stores, workshop, store: async (number) => (await opened(number)).store, letGo: () => letGo(generation), timeoutMs: DROP_MS })
    return []
  },
})
