import { randomUUID } from 'node:crypto'
import { after, every, retrying } from '../../../processors/engine/timing/retry.ts'
import type { Pipeline } from '../../../processors/engine/run/pipeline.ts'
import { Fault } from '../../../schemas/fault.ts'
import { isEmbedded, type Runtime } from '../../wiring/runtime.ts'

/** The lease of one importer for one part of a file. While the lease is valid, no other importer can import into the domain. */
export interface ImportLease {
  readonly pipeline: Pipeline
  /** Extends the lease. Fault: `import-running` if another process has acquired it. */
  renew(): Promise<void>
}

const pending = new WeakMap<Pipeline, Promise<unknown>>()

/**
 * Runs `work` while no other part is imported into the domain, in this process or another one. So each part is checked against the items that the
 * previous part has changed.
 */
export const withImportLease = <T>(
  runtime: Runtime,
  domain: string,
  work: (lease: ImportLease) => Promise<T>,
): Promise<T> => {
  const pipeline = runtime.pipeline(domain)
  const before = pending.get(pipeline) ?? Promise.resolve()
  const done = before.then(() =>
    isEmbedded(runtime.config)
      ? work({ pipeline, renew: () => Promise.resolve() })
      : withStoredLease(runtime, pipeline, work),
  )
  pending.set(
    pipeline,
    done.catch(() => undefined),
  )
  return done
}

/** The maximum wait for the lease, in milliseconds. It is longer than a lease, so the lease of a dead process expires during the wait. */
const WAIT_MS = 90_000
const POLL_MS = 200

const withStoredLease = async <T>(
  { clock }: Runtime,
  pipeline: Pipeline,
  work: (lease: ImportLease) => Promise<T>,
): Promise<T> => {
  const {
    control,
    domain: { name },
  } = pipeline
  const owner = randomUUID()
  const acquire = (): Promise<boolean> => control.acquireImportLease(name, owner)
  if (
    !(await retrying(acquire, {
      clock,
      when: { result: (acquired) => !acquired },
      until: after(clock, WAIT_MS),
      pause: every(POLL_MS),
    }))
  )
    throw importRunning(name)
  const renew = async (): Promise<void> => {
    if (!(await acquire())) throw importRunning(name)
  }
  try {
    return await work({ pipeline, renew })
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
