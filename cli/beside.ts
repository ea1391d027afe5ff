import type { Socket } from 'node:net'
import type { Control, Generation } from '../processors/engine/control.ts'
import type { Log } from '../processors/engine/log.ts'
import type { Key, Stored } from '../projections/item.ts'
import type { Page } from '../projections/table.ts'
import type { Domain } from '../projections/projection.ts'
import { Fault } from '../schemas/fault.ts'
import { makeScratch, openEmbeddedLogs, openTables } from './adapters.ts'
import { shareBuild } from './build-workers.ts'
import { systemClock } from '../processors/adapters/system-clock.ts'
import type { Config } from './config.ts'
import { callHolder } from './folder.ts'
import { pairsOf, servingOf } from './operations/beside.ts'
import type { ControlCall, ServingPairs } from './operations/beside.ts'
import type { OperationName } from './operations.ts'
import { codecBeside } from './sealing.ts'
import { askOver, streamOver } from './socket.ts'
import type { Workplace } from './workplace.ts'

/** A place to fold in beside the server that holds the folder: the log is read from its files, all else is asked of the server. */
export const openBeside = async (config: Config, domain: Domain): Promise<Workplace> => {
  const socket = async (): Promise<Socket> => {
    const found = await callHolder(config.data)
    if (found === undefined) throw new Fault('server-gone', 'The running server ended meanwhile. Repeat the command.', { retriable: true })
    return found
  }
  const quiet = { row: () => undefined, progress: () => undefined, signal: new AbortController().signal }
  const ask = async (name: OperationName, args: unknown): Promise<unknown> => askOver(await socket())(name, args, quiet)
  const call = (args: ControlCall): Promise<unknown> => ask('control', args)
  const { log, close } = await openLog(config, domain, call)
  const load = (generation: number) => async (keys: readonly Key[]): Promise<readonly (Stored | undefined)[]> =>
    ((await ask('store-load', { domain: domain.name, generation, keys })) as readonly (Stored | null)[]).map((item) => item ?? undefined)
  const store = (generation: number): Awaited<ReturnType<Workplace['store']>> => ({
    async *scan() {
      for await (const page of streamOver(await socket(), 'store-scan', { domain: domain.name, generation })) yield page as readonly Stored[]
    },
    load: load(generation),
    reader: () => ({
      get: async (key) => (await load(generation)([key]))[0],
      getMany: load(generation),
      query: async (query) => (await ask('store-query', { domain: domain.name, generation, query })) as Page,
    }),
    checkpoints: async () => new Map((await ask('store-checkpoints', { domain: domain.name, generation })) as readonly (readonly [number, number])[]),
  })
  const { generation } = (await call({ verb: 'serving', domain: domain.name })) as ServingPairs
  return {
    domain, log, close,
    codec: await codecBeside(config.data, domain),
    clock: systemClock,
    control: remoteControl(call),
    serving: generation,
    store: (number) => Promise.resolve(store(number)),
    scratch: () => makeScratch(domain.table),
    // Nobody else opens the new generation's files until it is listed as following.
    building: async () => {
      const tables = await openTables(config.data)
      return { workIn: (number) => tables.open(domain.table, number), share: shareBuild({ data: config.data }, domain) }
    },
    follow: () => Promise.resolve(),
  }
}

const openLog = async ({ data, kafka }: Config, { name, topic }: Domain, call: (args: ControlCall) => Promise<unknown>) => {
  if (kafka !== undefined) throw new Fault('beside-unsupported', 'Beside a running server this works only with both log and items embedded, or with both as services. Stop the server first.')
  const logs = await openEmbeddedLogs(data, 'read')
  const opened = await logs.open(topic)
  const log: Log = { ...opened, setCommitted: async (group, offsets) => void (await call({ verb: 'set-committed', domain: name, group, offsets: [...offsets] })) }
  return { log, close: () => logs.close() }
}

const remoteControl = (call: (args: ControlCall) => Promise<unknown>): Workplace['control'] => ({
  begin: async (domain, holder) => (await call({ verb: 'begin', domain: domain.name, holder, foldVersion: domain.foldVersion })) as Generation,
  renew: async (domain, holder) => void (await call({ verb: 'renew', domain, holder })),
  follow: async (domain, generation, holder) => void (await call({ verb: 'follow', domain, generation, holder })),
  verified: async (domain, proof) => void (await call({ verb: 'verified', domain, proof })),
  abandon: async (domain, generation, holder) => void (await call({ verb: 'abandon', domain, generation, holder })),
  generations: async (domain) => (await call({ verb: 'generations', domain })) as Awaited<ReturnType<Control['generations']>>,
  serving: async (domain) => servingOf((await call({ verb: 'serving', domain })) as ServingPairs),
  flip: async (domain, to, seen) => void (await call({ verb: 'flip', domain, to: pairsOf(to), seen })),
})
