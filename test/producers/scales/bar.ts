import { scales } from '../../../processors/scales/domain.ts'
import { derivedId } from '../../../producers/ids.ts'
import type { TrackedSeries } from '../../../producers/http/route.ts'
import { scalesEdge } from '../../../producers/scales/edge.ts'
import type { ReadingReportedData } from '../../../schemas/generated/scales.ts'
import { as } from '../person.ts'
import { openMemoryEdge, type MemoryEdge } from '../../../testing/edge/edge.ts'

export const LOC = '/v1/locations/loc-001'
export const GUINNESS = {
  beer_id: 'guinness-draught',
  name: 'Guinness Draught',
  style: 'Stout',
  specific_gravity: 1.014,
} as const

const openScales = (series?: TrackedSeries) =>
  openMemoryEdge({ domain: scales, edge: scalesEdge, ...(series && { series }) })

const barIn = async (edge: MemoryEdge) => ({ edge, ...(await as(edge, 'ann')) })

export const openBar = async (series?: TrackedSeries) => barIn(await openScales(series))

let seq = 0

/** Appends the event of a reading, as the edge does for a device. `at` is the time of the measurement. Default: now. */
export const read = (edge: MemoryEdge, fields: Partial<ReadingReportedData> & { readonly loc?: string }) => {
  const { loc = 'loc-001', ...reading } = fields
  seq += 1
  const data: ReadingReportedData = {
    device_id: 'SCALE-0042',
    epoch: 1,
    boot: 'b1',
    seq,
    at: edge.clock.at,
    device_ts: null,
    age_ms: null,
    clamped: false,
    weight_lbs: null,
    level_pct: null,
    battery_v: null,
    battery_pct: null,
    tare_status: null,
    fw: null,
    dropped: null,
    ...reading,
  }
  const meta = {
    eventId: derivedId('device', data.device_id, data.boot, String(data.seq)),
    key: loc,
    occurredAt: data.at,
    recordedAt: edge.clock.at,
    source: 'test',
    correlationId: null,
    causationId: null,
    actorId: data.device_id,
    subjectId: null,
    request: null,
  }
  return edge.commands.execute({ type: 'ReadingReported', meta, data, personal: null }, { wait: true, timeoutMs: 50 })
}

export const openRunningBar = async (series?: TrackedSeries) => createRunningBar(await openScales(series))

/** Creates a bar with a beer, a scale under tap 07, and a keg on the tap. */
export const createRunningBar = async (edge: MemoryEdge) => {
  const bar = await barIn(edge)
  await bar.sendCommand('POST', '/v1/beers', GUINNESS)
  await bar.sendCommand('POST', `${LOC}/devices`, { device_id: 'SCALE-0042' })
  await bar.sendCommand('PUT', `${LOC}/taps/07/device`, { device_id: 'SCALE-0042' })
  const {
    body: { id: keg },
  } = await bar.sendCommand('POST', `${LOC}/taps/07/keg`, { beer_id: GUINNESS.beer_id, keg_type: 'half_barrel' })
  return { ...bar, keg }
}

export const typesOf = ({ events }: MemoryEdge) =>
  events.map(({ type }) => type).filter((type) => !type.startsWith('Pat'))
