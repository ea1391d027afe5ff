import { activities } from '../../../processors/activities/domain.ts'
import type { RunningService } from '../../../domains/record.ts'
import type { EdgeDeps } from '../../../producers/http/server.ts'
import type { WebhookConfiguration } from '../../../producers/activities/configuration.ts'
import { activitiesEdgeWith } from '../../../producers/activities/edge.ts'
import { openMemoryEdge, type MemoryEdge } from '../../../testing/edge/edge.ts'
import { memoryOutside, type MemoryOutside } from '../../../testing/edge/outside.ts'
import { send, type EdgeAnswer, type EdgeRequest } from '../../../testing/edge/request.ts'

export const WEBHOOK: WebhookConfiguration = {
  secret: 'the-secret-of-the-path',
  verifyToken: 'the-verify-token',
  subscriptionId: '120475',
}

export interface ActivitiesEdge extends MemoryEdge {
  readonly outside: MemoryOutside
  /** Sends a request of a person with a token. */
  by(user: string, request: EdgeRequest): Promise<EdgeAnswer>
}

/** The edge of activities over a pipeline in memory. `strava`: the loopback Strava. Default: Strava is not configured. */
export const openActivities = async ({
  strava,
  webhook = WEBHOOK,
  report,
}: {
  readonly strava?: RunningService
  /** Null: the webhook is not configured. */
  readonly webhook?: WebhookConfiguration | null
  readonly report?: EdgeDeps['report']
} = {}): Promise<ActivitiesEdge> => {
  const outside = memoryOutside()
  const named = (name: string): string => strava?.variables[`TRIBUTARY_STRAVA_${name}`] ?? ''
  const application = strava && {
    api: named('API'),
    oauth: named('OAUTH'),
    clientId: named('CLIENT_ID'),
    clientSecret: named('CLIENT_SECRET'),
  }
  const edge = await openMemoryEdge({
    domain: activities,
    edge: activitiesEdgeWith({ ...(application && { application }), ...(webhook && { webhook }) }, outside),
    ...(report && { report }),
  })
  const tokens = new Map<string, Promise<string>>()
  const tokenOf = (user: string) => {
    const token = tokens.get(user) ?? edge.token(user, user === 'root' ? ['read', 'write', 'admin'] : ['read', 'write'])
    tokens.set(user, token)
    return token
  }
  return { ...edge, outside, by: async (user, request) => send(edge.app, { ...request, token: await tokenOf(user) }) }
}

export const BIKE = {
  modelId: 'bike',
  name: 'Bike',
  partsTotal: 12,
  parts: Array.from({ length: 12 }, (_, at) => ({
    partName: `Part ${at + 1}`,
    meshFile: `p${at + 1}.glb`,
    attachPoint: 'frame',
  })),
}
