import type { ConnectionItem } from '../../projections/activities/items.ts'
import { connections } from '../../projections/activities/keys.ts'
import type { Call } from '../http/route.ts'
import { bool, integer, text, textOrNull } from '../http/schemas.ts'
import { arrayOf, shape } from '../http/shape.ts'
import { PRIVATE_SCOPE } from './scopes.ts'

type Shown = Pick<ConnectionItem, 'status' | 'athleteId' | 'scopes' | 'missingScopes' | 'backfill'> & {
  readonly linkedAtUtc: string | null
}

const NONE: Shown = {
  status: 'NONE',
  athleteId: null,
  scopes: [],
  missingScopes: [],
  linkedAtUtc: null,
  backfill: { run: 0, page: 0, before: null, done: false, fetched: 0 },
}

const isLinked = ({ status }: Shown): boolean => status === 'CONNECTED' || status === 'REAUTH_REQUIRED'

/** The connection of a person with Strava, as answers contain it. */
export const stravaStatus = shape<Shown>()({
  status: { type: 'string', enum: ['NONE', 'CONNECTED', 'REAUTH_REQUIRED', 'REVOKING', 'REVOKED'] },
  athleteId: { ...textOrNull, from: (shown) => (isLinked(shown) ? shown.athleteId : null) },
  scopes: arrayOf(text),
  missingScopes: {
    ...arrayOf(text),
    description: 'Scopes that you have not granted. Without activity:read_all, private activities are missing.',
    from: (shown) =>
      isLinked(shown)
        ? [...new Set([...shown.missingScopes, ...(shown.scopes.includes(PRIVATE_SCOPE) ? [] : [PRIVATE_SCOPE])])]
        : [],
  },
  linkedAtUtc: textOrNull,
  backfill: {
    type: 'object',
    required: ['fetched', 'done'],
    properties: { fetched: integer, done: bool },
    from: ({ backfill: { fetched, done } }) => ({ fetched, done }),
  },
})

export const statusAnswer = async ({ caller: { reader, user } }: Pick<Call, 'caller'>) => {
  const connection = await connections.get(reader, user)
  return stravaStatus.view(connection === undefined || connection.status === 'NONE' ? NONE : connection)
}
