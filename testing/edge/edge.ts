import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { DomainRecord, Edge } from '../../domains/record.ts'
import { mintToken, type Scope } from '../../producers/access/pat.ts'
import type { DomainEdge } from '../../producers/http/domain.ts'
import type { TrackedSeries } from '../../producers/http/route.ts'
import { createEdge, type EdgeDeps, type Limits } from '../../producers/http/server.ts'
import type { ChangeFeed } from '../../projections/changes.ts'
import type { Domain } from '../../projections/projection.ts'
import type { NamedSchema } from '../../schemas/avro.ts'
import type { Event } from '../../schemas/event.ts'
import { metaOf, NOON } from '../event.ts'
import { memoryOutside } from './outside.ts'
import { createMemoryPipeline, type MemoryPipeline } from './pipeline.ts'

/** Limits for tests: no rate limit, no quota, no usage events, and a command waits 50 ms for its outcome. */
export const OPEN_LIMITS: Limits = {
  rate: null,
  quota: { reads: null, writes: null },
  usageSample: null,
  waitMs: 50,
  readMs: 5_000,
}

/** The HTTP edge of one domain over a pipeline in memory. */
export interface MemoryEdge extends MemoryPipeline {
  /** Receives requests from `send`. Close it at the end of the test. */
  readonly app: FastifyInstance
  /** The clock of the edge. A test sets `at`. Default: `NOON`. */
  readonly clock: { now(): number; at: number }
  /** Issues a token for a user. Default scopes: read and write. */
  token(user: string, scopes?: readonly Scope[]): Promise<string>
}

let serial = 0
const nextBytes = (size: number) =>
  Uint8Array.from({ length: size }, (_, at) => (serial * 131 + at * 7 + (serial >> 8)) % 256)

/** Options of `openMemoryEdge`. */
export interface MemoryEdgeOptions {
  readonly domain: Domain
  readonly edge: Edge
  /** Further domains that fold the same log (`also` of the record). Default: none. */
  readonly also?: readonly Domain[] | undefined
  /** Schemas in addition to those of the domain. */
  readonly schemas?: readonly NamedSchema[] | undefined
  /** Default: `OPEN_LIMITS`. */
  readonly limits?: Partial<Limits>
  readonly logger?: FastifyBaseLogger
  readonly report?: EdgeDeps['report']
  readonly end?: NonNullable<DomainEdge['end']>
  readonly series?: TrackedSeries
  /** Default: not configured. */
  readonly publicUrl?: string
  /** Default: people cannot sign in. */
  readonly signIn?: EdgeDeps['signIn']
  /** The connections of live feeds, and the changes that they deliver. Default: no live feed. */
  readonly live?: NonNullable<EdgeDeps['live']> & { readonly changes: ChangeFeed }
}

/** Opens the HTTP edge of a domain over a pipeline in memory: a command is folded before it is answered. */
export const openMemoryEdge = async ({
  domain,
  edge,
  also,
  schemas,
  limits,
  logger,
  report,
  end,
  series,
  publicUrl,
  signIn,
  live,
}: MemoryEdgeOptions): Promise<MemoryEdge> => {
  const clock = { at: NOON, now: () => clock.at }
  const pipeline = createMemoryPipeline({ clock, domain, also, schemas })
  const further = Object.fromEntries(Object.entries(pipeline.further).map(([name, { reader }]) => [name, reader]))
  const app = createEdge({
    domains: [
      {
        ...edge,
        topic: domain.topic,
        schemas: domain.schemas,
        commands: pipeline.commands,
        serving: async () => ({
          reader: pipeline.reader,
          generation: 1,
          outcomes: { untilOutcome: pipeline.untilOutcome, untilFolded: pipeline.untilFolded },
          series,
          further,
          ...(live && { changes: live.changes }),
        }),
        ...(end ? { end } : {}),
      },
    ],
    clock,
    ids: { uuidv7: () => `01935b7a-0000-7000-8000-${String(++serial).padStart(12, '0')}` },
    randomBytes: (size) => nextBytes((serial++, size)),
    limits: { ...OPEN_LIMITS, ...limits },
    version: '0.0.0-test',
    ...(logger ? { logger } : {}),
    ...(report ? { report } : {}),
    publicUrl,
    signIn,
    live,
  })
  await app.ready()
  const token: MemoryEdge['token'] = async (user, scopes = ['read', 'write']) => {
    const minted = mintToken(edge.name, (size) => nextBytes((serial++, size)))
    await pipeline.commands.execute(patIssued(user, scopes, minted.hash), { wait: true, timeoutMs: 50 })
    return minted.token
  }
  return { ...pipeline, app, clock, token }
}

/** The event that issues a token with this hash. */
export const patIssued = (user: string, scopes: readonly Scope[], hash: string): Event => ({
  type: 'PatIssued',
  meta: metaOf({ key: user, eventId: `issue-${++serial}` }),
  data: { patId: `pat-${serial}`, hash, scopes: [...scopes] },
  personal: { name: 'test' },
})

/** The edge of a record, with no outside service configured. Undefined if the domain has no edge. */
export const edgeOf = ({ edge }: Pick<DomainRecord, 'edge'>): Edge | undefined =>
  edge !== undefined && 'configure' in edge ? edge.configure({}, []).edge(memoryOutside()) : edge
