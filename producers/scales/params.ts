import type { ScalesEvent } from '../../schemas/generated/scales.ts'
import { isTap, isId, ALERT_TYPES, type AlertType } from '../../projections/scales/keys.ts'
import { scalesRefusals } from '../../projections/scales/refusals.ts'
import { scalesQueries, type ScalesQueries } from '../../projections/scales/queries.ts'
import { drafts } from '../http/drafts.ts'
import { instantOf } from '../http/instants.ts'
import { pathId, shown } from '../http/path-id.ts'
import { mistake, Problem, refusedEarly } from '../http/problem.ts'
import type { Call } from '../http/route.ts'

type Params = Pick<Call, 'params'>

/** Returns the Problem for a request that the folds would refuse. The edge throws it before it appends an event. */
export const refused = refusedEarly(scalesRefusals)

export const tapOf = pathId(
  'tap',
  isTap,
  (tap) =>
    new Problem(404, 'tap-not-found', `The location has no tap ${shown(tap)}. A tap has two digits, such as 07.`),
)
export const deviceOf = pathId('device', isId, (device) =>
  refused('device-not-found', `The location has no device ${shown(device)}. POST it to …/devices first.`),
)
export const kegOf = pathId(
  'keg',
  isId,
  (keg) => new Problem(404, 'keg-not-found', `The location has no keg ${shown(keg)}.`),
)
export const beerOf = pathId('beer', isId, (beer) =>
  refused('beer-not-found', `There is no beer ${shown(beer)}. POST it to /v1/beers first.`),
)

const KEG_TYPE = /^[a-z0-9][a-z0-9_]{0,39}$/
export const kegTypePattern = KEG_TYPE.source

export const kegTypeOf = pathId(
  'type',
  (type) => KEG_TYPE.test(type),
  () =>
    mistake(400, {
      pointer: 'params/type',
      code: 'bad-name',
      detail: 'A keg type has 1 to 40 lower-case letters, digits or _, such as half_barrel.',
    }),
)

export const idSchema = {
  type: 'string',
  minLength: 1,
  maxLength: 64,
  pattern: '^[A-Za-z0-9][A-Za-z0-9_.:-]*$',
} as const

export const instantSchema = {
  type: 'string',
  maxLength: 40,
  description: 'RFC 3339 with an offset. Default: now.',
} as const

/** The allowed deviation of a client's clock. */
const AHEAD_MS = 15 * 60_000

/** Returns the time of a past occurrence. Default: now. A time less than 15 minutes in the future becomes now. Throws for a later time. */
export const pastOf = (text: string | undefined, pointer: string, now: number): number => {
  if (text === undefined) return now
  const at = instantOf(text, pointer)
  if (at > now + AHEAD_MS)
    throw mistake(400, {
      pointer,
      code: 'out-of-range',
      detail: `${pointer} is in the future. Send the time of something that has happened.`,
    })
  return Math.min(at, now)
}

/** The id of an alert in a path, such as `low_keg:TAP:07`. */
export const alertIdOf = ({ type, entity }: { readonly type: string; readonly entity: string }): string =>
  `${type}:${entity.replace('#', ':')}`

export const noAlert = (id: string): Problem =>
  refused('alert-not-found', `The location has no active alert ${shown(id)}.`)

export const alertOf = ({
  params,
}: Params): { readonly id: string; readonly type: AlertType; readonly entity: string } => {
  const id = params['alert'] ?? ''
  const [, typeName, kind, name = ''] = /^([a-z_]+):(TAP|DEVICE):(.+)$/.exec(id) ?? []
  const type = ALERT_TYPES.find((known) => known === typeName)
  if (type === undefined || !(kind === 'TAP' ? isTap(name) : isId(name))) throw noAlert(id)
  return { id, type, entity: `${kind}#${name}` }
}

/** Returns the queries of the domain. They read the generation that answers the request. */
export const queriesOf = ({ caller: { reader } }: Pick<Call, 'caller'>): ScalesQueries => scalesQueries(reader)

export const event = drafts<ScalesEvent>()
