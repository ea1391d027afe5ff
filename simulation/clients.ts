import type { Codec } from '../schemas/codec.ts'
import type { Event } from '../schemas/event.ts'
import { isFault } from '../schemas/fault.ts'
import type { History } from './checkers.ts'
import { positionName, put } from './log-model.ts'
import type { Random } from './random.ts'
import type { Scheduler } from './scheduler.ts'
import type { Send } from './workload.ts'
import type { World } from './world.ts'

export interface Clients {
  readonly history: History
  done(): boolean
}

const MAX_ATTEMPTS = 6

/** Starts one client per list. Each client sends its list in order. After a failed append, it mostly sends the same event again. */
export const startClients = (world: World, scheduler: Scheduler, lists: readonly (readonly Send[])[]): Clients => {
  const history: History = new Map()
  let busy = lists.length
  lists.forEach((sends, index) => {
    void client(world, scheduler, { sends, index, history }).then(() => {
      busy -= 1
    })
  })
  return { history, done: () => busy === 0 }
}

interface Client {
  readonly sends: readonly Send[]
  readonly index: number
  readonly history: History
}

const client = async (world: World, scheduler: Scheduler, { sends, index, history }: Client) => {
  const process = scheduler.spawn(`client${index}`, 100_000 + index, false)
  const log = world.log(process)
  const clock = world.clock(process)
  const codec = world.codec(process)
  const { random } = world
  for (const send of sends) {
    await clock.sleep(random.chance(0.8) ? random.between(0, 3) : random.between(20, 600))
    const { key, payload } = send
    if (payload instanceof Uint8Array || key === null || send.id === null) {
      const partition =
        send.key === null ? random.between(0, world.topic.partitions.length - 1) : log.partitionOf(send.key)
      put(world.topic, { key, value: payload as Uint8Array }, { partition, timestamp: clock.now() })
      world.coordinator.appended(world.topic)
      continue
    }
    const attempts = history.get(send.id) ?? { acked: [], unknown: 0 }
    history.set(send.id, attempts)
    // Encoded once, so that a repeated append has the same bytes.
    let value: Uint8Array | undefined
    const append = async () => log.append([{ key, value: (value ??= await encode(codec, payload)) }])
    await sendOne({ random, append, pause: () => clock.sleep(200) }, attempts)
  }
}

const encode = async (codec: Codec, event: Event): Promise<Uint8Array> => {
  await codec.keysFor?.([event])
  return codec.encode(event)
}

interface Sending {
  readonly random: Random
  append(): Promise<readonly { partition: number; offset: number }[]>
  pause(): Promise<void>
}

const sendOne = async ({ random, append, pause }: Sending, attempts: { readonly acked: string[]; unknown: number }) => {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    try {
      attempts.acked.push(...(await append()).map(positionName))
      return
    } catch (error) {
      if (isFault(error, 'append-unknown')) attempts.unknown += 1
      if (random.chance(0.2)) return
      await pause()
    }
  }
}
