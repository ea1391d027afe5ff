import type { AskHandlers } from '../../../projections/ask.ts'
import type { Due } from '../../../projections/outgoing-rows.ts'
import { startFetcher, type ServingAsks } from '../asks/fetcher.ts'
import { createLedger } from '../outgoing/ledger.ts'
import { startSender, type SendingGenerations } from '../outgoing/sender.ts'
import { startTimers } from '../outgoing/timers.ts'
import type { Log } from '../ports/log.ts'
import type { Store } from '../ports/store.ts'
import type { Polling } from '../timing/polling.ts'
import { openUndamaged, type OpenGeneration } from './open-generations.ts'
import { PACES, type PipelineParts } from './pipeline-parts.ts'

type SendingPipelineParts = Pick<
  PipelineParts,
  'domain' | 'control' | 'codec' | 'processName' | 'clock' | 'observer' | 'paces' | 'ledger'
>

export interface SendingParts {
  readonly log: Log
  readonly partitions: number
  readonly generation: (generation: number) => Promise<Pick<OpenGeneration, 'generation' | 'store'>>
}

/**
 * Creates the sender, which sends the outbox rows, the timers, and the fetcher, which calls asks. Each of them runs in this process only
 * after its start.
 */
export const createSending = (
  { domain, control, codec, processName, clock, observer, paces = PACES, ...parts }: SendingPipelineParts,
  { log, partitions, generation }: SendingParts,
) => {
  const sendingGenerations = async (): Promise<SendingGenerations> => {
    const pointer = await control.serving(domain.name)
    const listed = (await control.generations(domain.name))
      .filter(({ state }) => state === 'following')
      .map((each) => each.generation)
    return {
      periods: [pointer, ...pointer.before],
      generations: await openUndamaged(listed, { generation, serving: pointer.generation }),
    }
  }
  const serving = async (): Promise<ServingAsks & { readonly store: Store }> => {
    const period = await control.serving(domain.name)
    return { period, store: (await generation(period.generation)).store }
  }
  const ledger = createLedger({ store: parts.ledger, clock, processName })
  const common = { log, ledger, partitions, clock, failed: (error: unknown) => observer.failed(domain.name, error) }
  let sender: Polling | undefined
  let timers: Polling | undefined
  let fetcher: Polling | undefined
  return {
    /** Starts a round of each role that has rows to send now. */
    wake: (due: Due) => {
      if (due.sender !== undefined) sender?.wake()
      if (due.timers !== undefined && due.timers <= clock.now()) timers?.wake()
      if (due.fetcher !== undefined && due.fetcher <= clock.now()) fetcher?.wake()
    },
    start(role: 'sender' | 'timers'): void {
      if (role === 'timers')
        timers ??= startTimers({ ...common, pollMs: paces.timersMs, store: async () => (await serving()).store })
      else sender ??= startSender({ ...common, pollMs: paces.senderMs, sendingGenerations, ttl: domain.table.ttl })
    },
    startFetcher(handlers: AskHandlers): void {
      fetcher ??= startFetcher({
        ...common,
        domain: domain.name,
        codec,
        serving,
        ledger: parts.ledger,
        processName,
        handlers,
        pollMs: paces.fetcherMs,
        ended: (call) => observer.askCalled?.(domain.name, call),
      })
    },
    async stop(): Promise<void> {
      await fetcher?.stop()
      await timers?.stop()
      await sender?.stop()
    },
  }
}
