import { parkedId } from '../../processors/engine/parking.ts'
import type { StoredParked } from '../../processors/engine/parking.ts'
import { Fault } from '../../schemas/fault.ts'
import type { Operation } from '../operations.ts'
import type { Pipeline } from '../../processors/engine/pipeline.ts'
import type { Runtime } from '../runtime.ts'
import { parkedIn } from '../standing.ts'
import { rowOf } from './events.ts'

export interface ParkedRow {
  readonly id: string
  readonly domain: string
  readonly key: string | null
  readonly projection: string
  readonly position: string
  readonly type: string
  readonly code: string
  readonly reason: string
}

export interface Retried {
  readonly asked: number
  readonly healed: number
}

const rowOfParked = (domain: string, entry: StoredParked): ParkedRow => ({
  id: `${domain}:${parkedId(entry)}`,
  domain,
  key: entry.key,
  projection: entry.projection,
  position: `${entry.partition}:${entry.offset}`,
  type: entry.type,
  code: entry.code,
  reason: entry.reason,
})

export const listParked: Operation<{ readonly domain?: string }> = async (runtime, { domain }, says) => {
  const pipelines = domain === undefined ? [...runtime.pipelines.values()] : [runtime.pipeline(domain)]
  for (const pipeline of pipelines) for (const entry of await parkedIn(pipeline)) await says.row(rowOfParked(pipeline.domain.name, entry))
}

export const showParked: Operation<{ readonly id: string }> = async (runtime, { id }) => {
  const { pipeline, entry } = await find(runtime, id)
  for await (const records of pipeline.log.read(entry.partition, entry.offset, entry.offset + 1)) {
    for (const record of records) return { ...rowOfParked(pipeline.domain.name, entry), stack: entry.stack, record: await rowOf(pipeline.codec, record), bytes: Buffer.from(record.value).toString('hex') }
  }
  return { ...rowOfParked(pipeline.domain.name, entry), stack: entry.stack }
}

/** Asks for the retry in the entry itself, which the partition's owner sees; where that is this process, it heals at once. */
export const retryParked: Operation<{ readonly id?: string; readonly all?: boolean }> = async (runtime, { id, all }): Promise<Retried> => {
  if ((id === undefined) !== (all === true)) throw new Fault('bad-usage', 'Name one parked key, or say --all.')
  const found = id === undefined ? await everyEntry(runtime) : [await find(runtime, id)]
  for (const { pipeline, entry } of found) {
    await pipeline.serving().store.commit([[[{ put: { ...entry, retry: true, _pos: entry._pos + 1 }, expect: entry._pos }]]])
  }
  let healed = 0
  for (const pipeline of new Set(found.map((each) => each.pipeline))) healed += await pipeline.heal()
  return { asked: found.length, healed }
}

const everyEntry = async (runtime: Runtime) => {
  const lists = await Promise.all([...runtime.pipelines.values()].map(async (pipeline) => (await parkedIn(pipeline)).map((entry) => ({ pipeline, entry }))))
  return lists.flat()
}

const find = async (runtime: Runtime, id: string): Promise<{ pipeline: Pipeline; entry: StoredParked }> => {
  const found = (await everyEntry(runtime)).find(({ pipeline, entry }) => `${pipeline.domain.name}:${parkedId(entry)}` === id)
  if (found === undefined) throw new Fault('parked-unknown', `Nothing is parked under "${id}". See: tributary parked.`)
  return found
}
