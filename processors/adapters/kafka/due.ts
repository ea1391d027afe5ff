import type { EachBatchPayload, KafkaMessage } from 'kafkajs'
import type { LogRecord } from '../../engine/log.ts'
import type { Membership } from './membership.ts'
import type { Settings } from './options.ts'

export interface Due {
  readonly records: readonly LogRecord[]
  /** Unset when the fetch brought only records from before. */
  readonly first: number | undefined
  readonly last: number
}

/** The records at and after `from`: a fetch may bring some from before. */
export function dueRecords(messages: readonly KafkaMessage[], partition: number, from: number): Due {
  const records: LogRecord[] = []
  for (const { offset, timestamp, key, value } of messages) {
    const at = Number(offset)
    if (at >= from) records.push({ partition, offset: at, timestamp: Number(timestamp), key: key?.toString() ?? null, value: value ?? new Uint8Array(0) })
  }
  return { records, first: records[0]?.offset, last: records.at(-1)?.offset ?? from - 1 }
}

interface Beating { payload: EachBatchPayload; membership: Membership; settings: Settings }

/** The client sends no heartbeat while a batch is under way, unless it is asked to. */
export async function beating(run: () => Promise<void>, { payload, membership, settings: { clock, timing } }: Beating): Promise<void> {
  const done = new AbortController()
  const beat = async (): Promise<void> => {
    for (;;) {
      await clock.sleep(timing.heartbeat / 2, done.signal)
      if (done.signal.aborted) return
      await payload.heartbeat().catch((error: unknown) => membership.failed(error))
    }
  }
  void beat()
  try {
    await run()
  } finally {
    done.abort()
  }
}
