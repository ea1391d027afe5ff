import type { Socket } from 'node:net'
import { join } from 'node:path'
import type { Control } from '../../processors/engine/generations/control.ts'
import type { Log } from '../../processors/engine/ports/log.ts'
import { withVerdicts } from '../../processors/engine/poison/verdicts.ts'
import type { Key, Stored } from '../../projections/item.ts'
import type { Domain } from '../../projections/projection.ts'
import { Fault, isFault } from '../../schemas/fault.ts'
import { makeScratch, openEmbeddedLogs, openTables } from '../wiring/embedded.ts'
import { systemClock } from '../../processors/adapters/system-clock.ts'
import type { Config } from '../config/config.ts'
import { OPENING_MS } from './operations/server-access.ts'
import {
  noOutput,
  type ArgsOf,
  type ControlArgs,
  type ControlCall,
  type ControlMethod,
  type ControlResults,
  type OperationName,
  type ResultOf,
} from './operations.ts'
import { callServer, requireServer, streamFromServer } from './server-calls.ts'
import { openReadingCodec } from '../wiring/sealing.ts'
import { openSeriesStores } from '../wiring/series.ts'
import { sendRequest } from './socket.ts'
import type { DomainAccess } from './domain-access.ts'
import { embeddedBuildStorage, sharedFold } from '../wiring/build-storage.ts'

/** Access to a domain of the running server that has the data folder. Reads the log from its files, and requests everything else from the server. */
export const openRemoteAccess = async (config: Config, domain: Domain): Promise<DomainAccess> => {
  const server = createServerCalls(config.data)
  const { name } = domain
  const { log: opened, admin, close } = await openLog(config, domain, server)
  const log = withVerdicts(opened, () => server.call('marks', { domain: name }))
  const control = remoteControl(name, server)
  const { generation } = await control.serving(name)
  const series = await openSeriesStores(config)
  return {
    domain,
    log,
    admin,
    control,
    close: async () => {
      await series.close()
      await close()
    },
    codec: await openReadingCodec(config.data, domain),
    clock: systemClock,
    serving: generation,
    removesExpired: false,
    store: (number) => Promise.resolve(remoteStore(server, { domain: name, generation: number })),
    series: async (number) => {
      const local = domain.series && series.open(domain.series, number)
      return (
        local && {
          ...local,
          async *list() {
            yield* streamFromServer(await server.connect(), 'series-list', { domain: name, generation: number })
          },
        }
      )
    },
    scratch: (work) => makeScratch(domain, sharedFold(config, domain, work)),
    // This process can write the files of the new generation, because the server opens them only when the generation is listed as following.
    storage: async () =>
      embeddedBuildStorage(config, domain, { tables: await openTables(join(config.data, 'tables')), series }),
    ensureFollowed: () => Promise.resolve(),
    isExclusive: false,
    serverFoldVersion: () => server.call('folds', { domain: name }),
  }
}

/** Requests to the server. Each request has a connection of its own. */
interface ServerCalls {
  connect(): Promise<Socket>
  call<N extends OperationName>(name: N, args: ArgsOf<N>): Promise<ResultOf<N>>
}

const createServerCalls = (folder: string): ServerCalls => {
  const connect = (): Promise<Socket> => requireServer(folder)
  return { connect, call: async (name, args) => callServer(await connect())(name, args, noOutput()) }
}

const remoteStore = (
  { connect, call }: ServerCalls,
  of: ArgsOf<'store-scan'>,
): Awaited<ReturnType<DomainAccess['store']>> => {
  const load = async (keys: readonly Key[]): Promise<readonly (Stored | undefined)[]> =>
    (await call('store-load', { ...of, keys })).map((item) => item ?? undefined)
  return {
    load,
    async *scan() {
      yield* streamFromServer(await connect(), 'store-scan', of)
    },
    reader: () => ({
      get: async (key) => (await load([key]))[0],
      getMany: load,
      query: (query) => call('store-query', { ...of, query }),
    }),
    checkpoints: () => call('store-checkpoints', of),
  }
}

const openLog = async ({ data, kafka }: Config, { name, topic }: Domain, server: ServerCalls) => {
  if (kafka !== undefined)
    throw new Fault(
      'beside-unsupported',
      'Next to a running server this command works only if both the log and the items are embedded, or both are services. Stop the server first.',
    )
  const logs = await openEmbeddedLogs(data, 'read')
  const log: Log = await whileQuiet(server, () => logs.open(topic))
  // Only the server has the consumer groups, so this is a request to the server.
  const admin: DomainAccess['admin'] = { isFollowed: (group) => server.call('followed', { domain: name, group }) }
  return { log, admin, close: () => logs.close() }
}

const ATTEMPTS = 5

/**
 * Opens the log while the server writes nothing to the log. When a process opens an LMDB environment, LMDB copies the number of the last
 * transaction from the file to the memory that all processes share. A commit of the server during this copy would be lost: readers would not see
 * it, and the next commit of the server would replace it. Tries at most `ATTEMPTS` times.
 */
const whileQuiet = async <T>({ connect }: ServerCalls, open: () => Promise<T>): Promise<T> => {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const opening = new AbortController()
    const requestedAt = performance.now()
    let opened: Promise<T> | undefined
    const row = (): void => {
      if (performance.now() - requestedAt < OPENING_MS) opened = open()
      // The caller awaits `opened` after the connection is closed. Until then a failure must not count as unhandled.
      opened?.catch(() => undefined)
      opening.abort()
    }
    await callServer(await connect())('log-quiet', {}, { ...noOutput(), row, signal: opening.signal }).catch(
      (error: unknown) => {
        // A server of an earlier release has no such operation, so this opens the log without it.
        if (isFault(error, 'operation-unknown')) opened = open()
        else if (!opening.signal.aborted) throw error
      },
    )
    if (opened !== undefined) return opened
  }
  throw new Fault(
    'log-unavailable',
    `The running server did not answer within ${OPENING_MS / 1000} s, ${ATTEMPTS} times. Try again when it has less to do.`,
    { retriable: true },
  )
}

/** The control table of the server. Each method is one request. */
const remoteControl = (domain: string, { connect }: ServerCalls): Pick<Control, ControlMethod> => {
  const method =
    <M extends ControlMethod>(verb: M) =>
    async (...args: ControlArgs[M]): Promise<ControlResults[M]> => {
      const call: ControlCall<M> = { domain, verb, args }
      return sendRequest<never, ControlResults[M]>(await connect(), { name: 'control', args: call }, noOutput())
    }
  const begin = method('begin')
  return {
    serving: method('serving'),
    generations: method('generations'),
    begin: ({ name, table, foldVersion, readableFrom = 1 }, builder) =>
      begin({ name, table, foldVersion, readableFrom }, builder),
    resume: method('resume'),
    renew: method('renew'),
    release: method('release'),
    follow: method('follow'),
    flip: method('flip'),
    verified: method('verified'),
  }
}
