import { isFault } from '../../schemas/fault.ts'
import type { ChangeFeed, ChangePage, ItemChange } from '../../projections/changes.ts'
import type { LiveSpec, Cursor } from './spec.ts'
import type { Generation, Viewer } from './viewer.ts'

export interface HubParts {
  readonly spec: LiveSpec
  /** The generation that answers now, and what changes in it. */
  readonly serving: () => Promise<Generation & { readonly changes: ChangeFeed | undefined }>
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  failed(error: unknown): void
}

/** Everybody who watches through this process: one reader of the table's changes for all of them. */
export interface Hub {
  /** Resolves when the viewer has been told where things stand. */
  join(viewer: Viewer, since: Cursor | undefined): Promise<void>
  leave(viewer: Viewer): void
  stop(): Promise<void>
}

/** How soon a flip is noticed, and a feed that failed is tried again. */
const LOOK_MS = 500

export const createHub = ({ spec, serving, sleep, failed }: HubParts): Hub => {
  const viewers = new Map<string, Set<Viewer>>()
  let following: Following | undefined

  const everybody = (): readonly Viewer[] => [...viewers.values()].flatMap((some) => [...some])
  const hear = ({ changes }: ChangePage, epoch: number): void => {
    for (const [topic, some] of byTopic(spec, changes)) for (const viewer of viewers.get(topic) ?? []) viewer.hear(some, epoch)
  }
  /** From the beginning, for everybody: another generation serves, or it is not known what was missed. */
  const beginAnew = async (now: Generation): Promise<void> => {
    await Promise.all(everybody().map((viewer) => viewer.begin(now, undefined).catch(failed)))
  }
  const start = (): Following => follow({ serving, sleep, failed, hear, beginAnew })

  return {
    async join(viewer, since) {
      viewers.set(viewer.topic, (viewers.get(viewer.topic) ?? new Set()).add(viewer))
      following ??= start()
      // Only what is committed from here on is heard; what was before is read.
      await following.begun
      await viewer.begin(await serving(), since)
    },
    leave(viewer) {
      const some = viewers.get(viewer.topic)
      some?.delete(viewer)
      if (some?.size === 0) viewers.delete(viewer.topic)
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
    const some = topics.get(topic)
    if (some === undefined) topics.set(topic, [change])
    else some.push(change)
  }
  return topics
}

interface Following {
  /** What is committed after this is heard. */
  readonly begun: Promise<void>
  stop(): Promise<void>
}

interface FollowParts extends Pick<HubParts, 'serving' | 'sleep' | 'failed'> {
  readonly hear: (page: ChangePage, epoch: number) => void
  readonly beginAnew: (now: Generation) => Promise<void>
}

/** Follows whichever generation serves, for as long as somebody watches. */
const follow = ({ serving, sleep, failed, hear, beginAnew }: FollowParts): Following => {
  const stopping = new AbortController()
  let ready: () => void = () => {}
  const begun = new Promise<void>((resolve) => (ready = resolve))
  /** Where the viewers stand; without a cursor where it is not known what they missed. */
  let at: { readonly epoch: number; readonly cursor: string | undefined } | undefined

  const followOne = async (now: Awaited<ReturnType<HubParts['serving']>>, signal: AbortSignal): Promise<void> => {
    const epoch = now.generation
    const after = at?.epoch === epoch ? at.cursor : undefined
    let missed = at !== undefined && after === undefined
    for await (const page of now.changes?.follow({ signal, ...(after === undefined ? {} : { after }) }) ?? []) {
      if (missed) await beginAnew(now)
      missed = false
      at = { epoch, cursor: page.cursor }
      ready()
      hear(page, epoch)
    }
  }
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const turn = new AbortController()
      const signal = AbortSignal.any([stopping.signal, turn.signal])
      try {
        const now = await serving()
        const looking = lookOut(now.generation, { serving, sleep, signal }).then(() => turn.abort())
        await followOne(now, signal)
        turn.abort()
        await looking
      } catch (error) {
        turn.abort()
        if (isFault(error, 'changes-trimmed') && at !== undefined) at = { epoch: at.epoch, cursor: undefined }
        else failed(error)
        await sleep(LOOK_MS, stopping.signal).catch(() => undefined)
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

/** Resolves when another generation serves. */
const lookOut = async (generation: number, { serving, sleep, signal }: Pick<HubParts, 'serving' | 'sleep'> & { signal: AbortSignal }): Promise<void> => {
  while (!signal.aborted) {
    await sleep(LOOK_MS, signal).catch(() => undefined)
    if (!signal.aborted && (await serving()).generation !== generation) return
  }
}
