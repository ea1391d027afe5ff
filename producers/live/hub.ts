import { isFault } from '../../schemas/fault.ts'
import type { ChangeFeed, ChangePage, ItemChange } from '../../projections/changes.ts'
import type { LiveSpec, Cursor } from './spec.ts'
import type { Generation, Viewer } from './viewer.ts'

export interface HubParts {
  readonly spec: LiveSpec
  /** Returns the serving generation and its changes. */
  readonly serving: () => Promise<Generation & { readonly changes: ChangeFeed | undefined }>
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  failed(error: unknown): void
}

/** The viewers (connected clients) of one live feed in this process. The hub reads the changes of the table once for all viewers. */
export interface Hub {
  /** Resolves when the viewer has sent the current state to its client. */
  join(viewer: Viewer, since: Cursor | undefined): Promise<void>
  leave(viewer: Viewer): void
  stop(): Promise<void>
}

/** The interval at which the hub checks for a flip, and the pause before the hub reads the changes again after a failure. */
const POLL_MS = 500

export const createHub = ({ spec, serving, sleep, failed }: HubParts): Hub => {
  const viewers = new Map<string, Set<Viewer>>()
  let following: Following | undefined

  const allViewers = (): readonly Viewer[] => [...viewers.values()].flatMap((ofTopic) => [...ofTopic])
  const push = ({ changes }: ChangePage, epoch: number): void => {
    for (const [topic, ofTopic] of byTopic(spec, changes))
      for (const viewer of viewers.get(topic) ?? []) viewer.push(ofTopic, epoch)
  }
  /** Sends a snapshot to every viewer. Called if another generation serves, or if changes may have been missed. */
  const restart = async (generation: Generation): Promise<void> => {
    await Promise.all(allViewers().map((viewer) => viewer.begin(generation, undefined).catch(failed)))
  }
  const start = (): Following => follow({ serving, sleep, failed, push, restart })

  return {
    async join(viewer, since) {
      viewers.set(viewer.topic, (viewers.get(viewer.topic) ?? new Set()).add(viewer))
      following ??= start()
      // The feed delivers all changes after `begun`. The viewer reads the items after `begun`, so it misses no change.
      await following.begun
      await viewer.begin(await serving(), since)
    },
    leave(viewer) {
      const ofTopic = viewers.get(viewer.topic)
      ofTopic?.delete(viewer)
      if (ofTopic?.size === 0) viewers.delete(viewer.topic)
      if (viewers.size > 0) return
      void following?.stop()
      following = undefined
    },
    async stop() {
      await following?.stop()
      following = undefined
    },
  }
}

const byTopic = (spec: LiveSpec, changes: readonly ItemChange[]): ReadonlyMap<string, readonly ItemChange[]> => {
  const topics = new Map<string, ItemChange[]>()
  for (const change of changes) {
    const topic = spec.topicOf(change)
    if (topic === undefined) continue
    const ofTopic = topics.get(topic)
    if (ofTopic === undefined) topics.set(topic, [change])
    else ofTopic.push(change)
  }
  return topics
}

interface Following {
  /** Resolves when the feed has begun: from then on it delivers every change. Also resolves after `stop`. */
  readonly begun: Promise<void>
  stop(): Promise<void>
}

interface FollowParts extends Pick<HubParts, 'serving' | 'sleep' | 'failed'> {
  readonly push: (page: ChangePage, epoch: number) => void
  readonly restart: (generation: Generation) => Promise<void>
}

/** Reads the changes of the serving generation until `stop` is called. After a flip, reads the changes of the new generation. */
const follow = ({ serving, sleep, failed, push, restart }: FollowParts): Following => {
  const stopping = new AbortController()
  let ready: () => void = () => {}
  const begun = new Promise<void>((resolve) => (ready = resolve))
  /** The position after the last page of changes that was read. The cursor is undefined if changes may have been missed. */
  let at: { readonly epoch: number; readonly cursor: string | undefined } | undefined

  const followGeneration = async (
    generation: Awaited<ReturnType<HubParts['serving']>>,
    signal: AbortSignal,
  ): Promise<void> => {
    const epoch = generation.generation
    const after = at?.epoch === epoch ? at.cursor : undefined
    let missed = at !== undefined && after === undefined
    for await (const page of generation.changes?.follow({ signal, ...(after === undefined ? {} : { after }) }) ?? []) {
      if (missed) await restart(generation)
      missed = false
      at = { epoch, cursor: page.cursor }
      ready()
      push(page, epoch)
    }
  }
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const flipped = new AbortController()
      const signal = AbortSignal.any([stopping.signal, flipped.signal])
      try {
        const generation = await serving()
        const watching = untilFlip(generation.generation, { serving, sleep, signal }).then(() => flipped.abort())
        await followGeneration(generation, signal)
        flipped.abort()
        await watching
      } catch (error) {
        flipped.abort()
        if (isFault(error, 'changes-trimmed') && at !== undefined) at = { epoch: at.epoch, cursor: undefined }
        else failed(error)
        await sleep(POLL_MS, stopping.signal).catch(() => undefined)
      }
    }
    ready()
  }
  const running = run()
  return {
    begun,
    async stop() {
      stopping.abort()
      await running
    },
  }
}

/** Resolves when another generation serves, or when the signal aborts. */
const untilFlip = async (
  generation: number,
  { serving, sleep, signal }: Pick<HubParts, 'serving' | 'sleep'> & { signal: AbortSignal },
): Promise<void> => {
  while (!signal.aborted) {
    await sleep(POLL_MS, signal).catch(() => undefined)
    if (!signal.aborted && (await serving()).generation !== generation) return
  }
}
