import type { Counter } from 'prom-client'
import type { EdgeReport } from '../../producers/http/server.ts'
import type { DeviceReport } from '../../producers/mqtt/append-messages.ts'
import type { CountedAsks } from '../../processors/engine/asks/waiting.ts'
import type { Proof } from '../../processors/engine/generations/control.ts'
import type { Trimmed } from '../../processors/engine/generations/trimmed.ts'
import { isFault } from '../../schemas/fault.ts'
import { answerReport } from './answers.ts'
import { createInstruments, type Build, type Instruments } from './instruments.ts'
import type { PipelineObserver } from '../../processors/engine/run/pipeline-parts.ts'

/** The status of a domain, as measured now. */
export interface DomainStatus {
  readonly domain: string
  readonly generation: number
  /** True if a processor follows the serving generation. Null if no server runs on the data folder. */
  readonly followed: boolean | null
  readonly lagEvents: number
  readonly lagSeconds: number
  /** Partitions of the log that lost their first events. */
  readonly trimmed: readonly Trimmed[]
  readonly parked: number
  /** The number of events of parked keys that are not folded yet. */
  readonly waiting: number
  /** The calls to outside services that are due, and those that wait for an operator. */
  readonly asks: CountedAsks
  /** The time of the oldest event that parked a key, in epoch milliseconds. Null if no key is parked or no such event could be read. */
  readonly parkedSince: number | null
  /** The result of the last `verify`. Null if there was none. */
  readonly verified: Proof | null
  /** The generation that some process builds now. `share`: the folded part of the log, from 0 to 1. Null if no process builds. */
  readonly rebuild: { readonly generation: number; readonly share: number; readonly eventsPerSecond: number } | null
  /** Every generation of the domain, without those that were dropped. */
  readonly generations: readonly { readonly generation: number; readonly state: string; readonly foldVersion: number }[]
}

/** The DynamoDB write units that this process used for one generation: for items of the domain, and for rows of the program itself. */
export interface SpentUnits {
  readonly generation: number
  readonly domain: number
  readonly bookkeeping: number
}

export interface Measured extends DomainStatus {
  /** Empty if the store is embedded. */
  readonly units: readonly SpentUnits[]
}

export interface Metrics {
  readonly observer: Pick<PipelineObserver, 'batchFolded' | 'failed' | 'askCalled'>
  readonly report: EdgeReport
  readonly devices: Omit<DeviceReport, 'appended'>
  /** The metrics in Prometheus' text format, with the domains as they are measured now. */
  text(measured: readonly Measured[]): Promise<string>
  /** The number of events that this process has folded. */
  events(domain: string, generation: number): number
  /** Events per second over the last ten seconds. */
  rate(domain: string, generation: number): number
}

const WINDOW_SECONDS = 10

export const createMetrics = (now: () => number, build: Build): Metrics => {
  const instruments = createInstruments(build)
  const { registry, appended, folded, conflicts, faults, askCalls, webhookCalls, writeUnits } = instruments
  const rates = createRates(now)
  const devices = deviceReport(instruments)
  return {
    observer: {
      batchFolded(domain, generation, passed) {
        folded.inc({ domain, generation }, passed.events)
        conflicts.inc({ domain }, passed.conflicts)
        rates.add(`${domain}.${generation}`, passed.events)
      },
      failed: (domain, error) => faults.inc({ domain, code: isFault(error) ? error.code : 'internal' }),
      askCalled: (domain, call) => askCalls.inc({ domain, ...call }),
    },
    report: {
      appended: (event) => appended.inc({ ...event }),
      quarantined: devices.quarantined,
      webhookCalled: (source, outcome) => webhookCalls.inc({ source, outcome }),
      answered: answerReport(instruments),
    },
    devices,
    async text(measured) {
      for (const counter of [folded, writeUnits]) await removeDropped(counter, measured)
      for (const { domain, units } of measured)
        for (const { generation, ...kinds } of units) setUnits(writeUnits, { domain, generation }, kinds)
      setDomainGauges(instruments.domains, measured)
      return registry.metrics()
    },
    events: (domain, generation) => rates.total(`${domain}.${generation}`),
    rate: (domain, generation) => rates.of(`${domain}.${generation}`),
  }
}

/** Removes the time series of generations that no longer exist. The time series of a domain that could not be measured stay. */
const removeDropped = async (
  counter: Counter<'domain' | 'generation'>,
  measured: readonly DomainStatus[],
): Promise<void> => {
  for (const { labels } of (await counter.get()).values) {
    const generations = measured.find(({ domain }) => domain === labels.domain)?.generations
    if (generations?.every(({ generation }) => generation !== Number(labels.generation)) === true)
      counter.remove(labels)
  }
}

/** Replaces the values of the counter by the totals that the adapter has counted. */
const setUnits = (
  counter: Instruments['writeUnits'],
  labels: { readonly domain: string; readonly generation: number },
  kinds: Omit<SpentUnits, 'generation'>,
): void => {
  for (const [kind, total] of Object.entries(kinds)) {
    counter.remove({ ...labels, kind })
    counter.inc({ ...labels, kind }, total)
  }
}

/** Replaces all values at once, so that a domain that could not be measured, and a generation that no longer serves, have no value. */
const setDomainGauges = (gauges: Instruments['domains'], measured: readonly DomainStatus[]): void => {
  for (const gauge of Object.values(gauges)) gauge.reset()
  for (const { domain, generation, rebuild, verified, ...status } of measured) {
    gauges.lagEvents.set({ domain, generation }, status.lagEvents)
    gauges.lagSeconds.set({ domain, generation }, status.lagSeconds)
    gauges.servingFollowed.set({ domain }, status.followed === false ? 0 : 1)
    gauges.servingGeneration.set({ domain }, generation)
    gauges.logTrimmed.set({ domain }, status.trimmed.length > 0 ? 1 : 0)
    gauges.parkedKeys.set({ domain }, status.parked)
    gauges.parkedWaiting.set({ domain }, status.waiting)
    gauges.asksDue.set({ domain }, status.asks.due)
    gauges.asksWaiting.set({ domain }, status.asks.waiting)
    // If keys are parked but the time of their events is unknown, the gauge has no value, because 0 would mean that no key is parked.
    if (status.parkedSince !== null || status.parked === 0)
      gauges.parkedOldest.set({ domain }, (status.parkedSince ?? 0) / 1000)
    if (rebuild !== null) {
      gauges.rebuildProgress.set({ domain, generation: rebuild.generation }, rebuild.share)
      gauges.rebuildRate.set({ domain, generation: rebuild.generation }, rebuild.eventsPerSecond)
    }
    // A verify of another generation proves nothing about the items that serve now, so it does not count.
    const proof = verified?.generation === generation ? verified : null
    gauges.verifiedAt.set({ domain }, (proof?.at ?? 0) / 1000)
    if (proof === null) continue
    gauges.verifyDifferences.set({ domain }, proof.differences)
    gauges.verifyItems.set({ domain }, proof.items)
  }
}

const deviceReport = ({
  quarantined,
  mqttMessages,
  mqttRefused,
  mqttDelayed,
  mqttDropped,
  mqttConnections,
  mqttKeptMessages,
  mqttKeptBytes,
}: Instruments): Metrics['devices'] => ({
  message: (kind) => mqttMessages.inc({ kind }),
  quarantined: (reason) => quarantined.inc({ reason }),
  refused: (reason) => mqttRefused.inc({ reason }),
  delayed: () => mqttDelayed.inc(),
  connections: (count) => mqttConnections.set(count),
  dropped: (cause) => mqttDropped.inc({ cause }),
  stored: ({ messages, bytes }) => {
    mqttKeptMessages.set(messages)
    mqttKeptBytes.set(bytes)
  },
})

/** Creates counters with names. Each has a total, and a rate per second over the last `WINDOW_SECONDS` complete seconds. */
const createRates = (now: () => number) => {
  const counts = new Map<string, Map<number, number>>()
  const totals = new Map<string, number>()
  const second = (): number => Math.floor(now() / 1000)
  return {
    add(name: string, count: number): void {
      const bySecond = counts.get(name) ?? new Map<number, number>()
      counts.set(name, bySecond)
      totals.set(name, (totals.get(name) ?? 0) + count)
      bySecond.set(second(), (bySecond.get(second()) ?? 0) + count)
      for (const at of bySecond.keys()) if (at < second() - WINDOW_SECONDS) bySecond.delete(at)
    },
    total: (name: string): number => totals.get(name) ?? 0,
    of(name: string): number {
      const from = second() - WINDOW_SECONDS
      const recent = [...(counts.get(name) ?? [])].filter(([at]) => at >= from && at < second())
      return recent.reduce((sum, [, count]) => sum + count, 0) / WINDOW_SECONDS
    },
  }
}
