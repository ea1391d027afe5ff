import type { EachBatchPayload, KafkaMessage } from 'kafkajs'
import type { LogRecord } from '../../engine/ports/log.ts'
import type { Membership } from './membership.ts'
import type { Settings } from './options.ts'

export interface DueRecords {
  readonly records: readonly LogRecord[]
  /** The offset of the first record. Undefined if there is none. */
  readonly first: number | undefined
  /** The offset of the last record. `from - 1` if there is none. */
  readonly last: number
}

/** Returns the records of a fetch from offset `from` on. A fetch can contain earlier records, which are omitted. */
export function dueRecords(messages: readonly KafkaMessage[], partition: number, from: number): DueRecords {
  const records: LogRecord[] = []
  for (const { offset, timestamp, key, value } of messages) {
    const recordOffset = Number(offset)
    if (recordOffset >= from)
      records.push({
        partition,
        offset: recordOffset,
        timestamp: Number(timestamp),
        key: key?.toString() ?? null,
        value: value ?? new Uint8Array(0),
      })
  }
  return { records, first: records[0]?.offset, last: records.at(-1)?.offset ?? from - 1 }
}

interface HeartbeatPlan {
  payload: EachBatchPayload
  membership: Membership
  settings: Settings
}

/** Runs the work and sends heartbeats meanwhile, because kafkajs itself sends no heartbeats during a batch. */
export async function withHeartbeats(
  run: () => Promise<void>,
  { payload, membership, settings: { clock, timing } }: HeartbeatPlan,
): Promise<void> {
  const done = new AbortController()
  const sendHeartbeats = async (): Promise<void> => {
    for (;;) {
      await clock.sleep(timing.heartbeat / 2, done.signal)
      if (done.signal.aborted) return
      await payload.heartbeat().catch((error: unknown) => membership.failed(error))
    }
  }
  void sendHeartbeats()
  try {
    await run()
  } finally {
    done.abort()
  }
}
