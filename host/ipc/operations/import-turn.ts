import { randomUUID } from 'node:crypto'
import { after, every, retrying } from '../../../processors/engine/timing/retry.ts'
import type { Pipeline } from '../../../processors/engine/run/pipeline.ts'
import { Fault } from '../../../schemas/fault.ts'
import { isEmbedded, type Runtime } from '../../wiring/runtime.ts'

/** The right to import into a domain, for one part of a file. */
export interface ImportContext {
  readonly pipeline: Pipeline
  /** Extends the right. Fault: `import-running` if another process has taken it. */
  keep(): Promise<void>
}

const turns = new WeakMap<Pipeline, Promise<unknown>>()

/** Runs `work` while no other part is imported into the domain, in this process or another one. Each part is checked against the items that the previous part changed. */
export const inTurn = <T>(runtime: Runtime, domain: string, work: (turn: ImportContext) => Promise<T>): Promise<T> => {
  const pipeline = runtime.pipeline(domain)
  const before = turns.get(pipeline) ?? Promise.resolve()
  const done = before.then(() =>
    isEmbedded(runtime.config)
      ? work({ pipeline, keep: () => Promise.resolve() })
      : amongProcesses(runtime, pipeline, work),
  )
  turns.set(
    pipeline,
    done.catch(() => undefined),
  )
  return done
}

/** How long a process waits for the right. The right of a process that died expires earlier. */
const TURN_MS = 90_000
const LOOK_MS = 200

const amongProcesses = async <T>(
  { clock }: Runtime,
  pipeline: Pipeline,
  work: (turn: ImportContext) => Promise<T>,
): Promise<T> => {
  const {
    control,
    domain: { name },
  } = pipeline
  const owner = randomUUID()
  const take = (): Promise<boolean> => control.acquireImportLease(name, owner)
  if (
    !(await retrying(take, {
      clock,
      when: { result: (taken) => !taken },
      until: after(clock, TURN_MS),
      pause: every(LOOK_MS),
    }))
  )
    throw importRunning(name)
  const keep = async (): Promise<void> => {
    if (!(await take())) throw importRunning(name)
  }
  try {
    return await work({ pipeline, keep })
  } finally {
    await control.releaseImportLease(name, owner)
  }
}

const importRunning = (domain: string): Fault =>
  new Fault(
    'import-running',
    `Another process imports into ${domain}. Repeat the import when it has ended: it skips the rows that are there.`,
    { retriable: true },
  )
