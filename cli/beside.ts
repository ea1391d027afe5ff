import type { Socket } from 'node:net'
import { join } from 'node:path'
import type { Control } from '../processors/engine/control.ts'
import type { Log } from '../processors/engine/log.ts'
import { withMarks } from '../processors/engine/marks.ts'
import type { Mark } from '../processors/engine/marks.ts'
import type { Key, Stored } from '../projections/item.ts'
import type { Point } from '../projections/series.ts'
import type { Page } from '../projections/table.ts'
import type { Domain } from '../projections/projection.ts'
import { Fault, isFault } from '../schemas/fault.ts'
import { makeScratch, openEmbeddedLogs, openTables } from './adapters.ts'
import { systemClock } from '../processors/adapters/system-clock.ts'
import type { Config } from './config.ts'
import { callHolder } from './folder.ts'
import { OPENING_MS } from './operations/beside.ts'
import type { ControlCall, ControlVerb } from './operations/beside.ts'
import type { OperationName } from './operations.ts'
import { codecBeside } from './sealing.ts'
import { openSeriesStores } from './series.ts'
import { askOver, streamOver } from './socket.ts'
import type { Workplace } from './workplace.ts'
import { embeddedWorkshop, sharedFold } from './workshops.ts'

/** A place to fold in beside the server that holds the folder: the log is read from its files, all else is asked of the server. */
export const openBeside = async (config: Config, domain: Domain): Promise<Workplace> => {
  const socket = async (): Promise<Socket> => {
    const found = await callHolder(config.data)
    if (found === undefined) throw new Fault('server-gone', 'The running server ended meanwhile. Repeat the command.', { retriable: true })
    return found
  }
  const quiet = { row: () => undefined, progress: () => undefined, signal: new AbortController().signal }
  const ask = async (name: OperationName, args: unknown): Promise<unknown> => askOver(await socket())(name, args, quiet)
  const { log: opened, close } = await openLog(config, domain, { ask, socket })
  const log = withMarks(opened, async () => (await ask('marks', { domain: domain.name })) as readonly Mark[])
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
    checkpoints: async () => (await ask('store-checkpoints', { domain: domain.name, generation })) as ReadonlyMap<number, number>,
  })
  const control = remoteControl(domain.name, (call) => ask('control', call))
  const { generation } = await control.serving(domain.name)
  const series = await openSeriesStores(config)
  return {
    domain, log, control,
    close: async () => {
      await series.close()
      await close()
    },
    codec: await codecBeside(config.data, domain),
    clock: systemClock,
    serving: generation,
    collects: false,
    store: (number) => Promise.resolve(store(number)),
    series: async (number) => {
      const known = domain.series && series.open(domain.series, number)
      return known && {
        ...known,
        async *list() {
          for await (const page of streamOver(await socket(), 'series-list', { domain: domain.name, generation: number })) yield page as readonly Point[]
        },
      }
    },
    scratch: (work) => makeScratch(domain, sharedFold(config.data, domain, work)),
    // Nobody else opens the new generation's files until it is listed as following.
    workshop: async () => embeddedWorkshop(config.data, domain, { tables: await openTables(join(config.data, 'tables')), series }),
    follow: () => Promise.resolve(),
    alone: false,
    folds: async () => (await ask('folds', { domain: domain.name })) as number,
  }
}

interface Asked {
  readonly ask: (name: OperationName, args: unknown) => Promise<unknown>
  readonly socket: () => Promise<Socket>
}

const openLog = async ({ data, kafka }: Config, { name, topic }: Domain, { ask, socket }: Asked) => {
  if (kafka !== undefined) throw new Fault('beside-unsupported', 'Beside a running server this works only with both log and items embedded, or with both as services. Stop the server first.')
  const logs = await openEmbeddedLogs(data, 'read')
  const opened = await whileQuiet(socket, () => logs.open(topic))
  const log: Log = {
    ...opened,
    followed: async (group) => (await ask('followed', { domain: name, group })) as boolean,
  }
  return { log, close: () => logs.close() }
}

const ATTEMPTS = 5

/**
 * Opens the log while the server writes nothing to it. Opening an environment makes LMDB store the number of the last transaction, as it is in the file,
 * in the memory that all processes share. If the server commits in between, its commit disappears: readers miss it, and the server's next commit replaces it.
 */
const whileQuiet = async <T>(socket: Asked['socket'], open: () => Promise<T>): Promise<T> => {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const opening = new AbortController()
    const asked = performance.now()
    let opened: Promise<T> | undefined
    const row = (): void => {
      if (performance.now() - asked < OPENING_MS) opened = open()
      // Awaited below, after the connection is closed. Until then a failure must not count as unhandled.
      opened?.catch(() => undefined)
      opening.abort()
    }
    await askOver(await socket())('log-quiet', {}, { row, progress: () => undefined, signal: opening.signal }).catch((error: unknown) => {
      // A server of an earlier release.
      if (isFault(error, 'operation-unknown')) opened = open()
      else throw error
    })
    if (opened !== undefined) return opened
  }
  throw new Fault('log-unavailable', `The running server did not answer within ${OPENING_MS / 1000} s, ${ATTEMPTS} times. Try again when it has less to do.`, { retriable: true })
}

/** The control table of the server, verb by verb. */
const remoteControl = (domain: string, call: (args: ControlCall) => Promise<unknown>): Pick<Control, ControlVerb> => {
  const verb = <V extends ControlVerb>(name: V) => ((...args: readonly unknown[]) => call({ domain, verb: name, args })) as Control[V]
  return {
    serving: verb('serving'),
    generations: verb('generations'),
    begin: ({ name, table, foldVersion, readableFrom = 1 }, builder) => verb('begin')({ name, table, foldVersion, readableFrom }, builder),
    resume: verb('resume'),
    renew: verb('renew'),
    release: verb('release'),
    follow: verb('follow'),
    flip: verb('flip'),
    verified: verb('verified'),
  }
}
