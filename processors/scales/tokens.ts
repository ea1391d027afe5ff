import type { PatIssued } from '../../schemas/generated/common.ts'
import type { Get, Result } from '../../projections/projection.ts'
import type { PatItem } from '../../projections/access/items.ts'
import type { DeviceTokenItem } from '../../projections/scales/items.ts'
import { claims } from '../../projections/scales/keys.ts'
import { patIssued } from '../folding/tokens.ts'

/**
 * The item of a device's token contains the claim to which it belongs and the person who created it. The token and
 * the claim have the same log key, so every replay finds the same claim. If no location owns the device when the
 * token is issued, the token belongs to the device's next claim.
 */
export const tokenIssued = (event: PatIssued, get: Get): Result => {
  const { data, meta } = event
  const result = patIssued(event, get)
  const [item] = result.items ?? []
  if (item === undefined || !data.scopes.includes('device')) return result
  const claim = get(claims.key(meta.key))
  const loc_id = claim?.loc_id ?? null
  const token: DeviceTokenItem = {
    ...(item as PatItem),
    createdBy: isOperator(meta) ? null : meta.actorId,
    loc_id,
    claim_epoch: (claim?.epoch ?? 0) + (loc_id === null ? 1 : 0),
  }
  return { items: [token] }
}

/**
 * True if the operator issued the token. `tributary token create` sets the owner of the token, here the device, as the
 * actor. The edge can do the same only for a person whose id equals the id of the device, so its events are excluded.
 */
const isOperator = ({ actorId, key, source }: PatIssued['meta']): boolean =>
  actorId === null || (actorId === key && source !== 'edge')
