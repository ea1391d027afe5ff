import type { Item } from '../../projections/item.ts'
import type { PatItem } from '../../projections/access/items.ts'
import type { DeviceTokenItem } from '../../projections/scales/items.ts'
import { scalesQueries, type TokenLinks } from '../../projections/scales/queries.ts'
import type { Reader } from '../../projections/table.ts'
import { access, userOfToken } from '../access/access.ts'
import type { Access } from '../http/auth.ts'
import { text, textOrNull } from '../http/schemas.ts'
import { shape } from '../http/shape.ts'
import { isOfDevice, tokenAnswer } from '../access/token-routes.ts'

/** The time at which a device's token ended, and the reason. */
export interface TokenEnd {
  readonly endedAt: string
  readonly endReason: 'device-released' | 'creator-left'
}

/** True if the item names the claim of the device. Items of earlier releases do not: such a token works until it is revoked. */
const hasLinks = (item: Item | PatItem): item is DeviceTokenItem => 'claim_epoch' in item

/** Returns the end of a token. Undefined while the token works. */
const endOf = (
  { createdBy, createdAt, loc_id, claim_epoch }: DeviceTokenItem,
  { claim, meta, owner, member, gone }: TokenLinks,
): TokenEnd | undefined => {
  const epoch = claim?.epoch ?? 0
  const isClaimed = epoch === claim_epoch && (claim?.loc_id ?? null) !== null && meta?.status !== 'released'
  // The claim of the token has not begun yet: an operator created the token before a location claims the device.
  const isEarly = epoch < claim_epoch && createdBy === null
  if (!isClaimed && !isEarly)
    return { endedAt: releasedAt(meta, claim, claim_epoch) ?? createdAt, endReason: 'device-released' }
  if (createdBy === null || owner?.user_id === createdBy) return undefined
  // A member of a location created the token, but the token has no location: the device was released at the same moment.
  if (loc_id === null) return { endedAt: createdAt, endReason: 'device-released' }
  const isMember = member !== undefined && (gone === undefined || gone.removed_at < createdAt)
  return isMember ? undefined : { endedAt: gone?.removed_at ?? createdAt, endReason: 'creator-left' }
}

const releasedAt = (meta: TokenLinks['meta'], claim: TokenLinks['claim'], epoch: number): string | undefined => {
  if (meta?.status === 'released') return meta.status_at
  return claim !== undefined && claim.epoch > epoch ? claim.claimed_at : undefined
}

const endIn = async (reader: Reader, item: Item | PatItem): Promise<TokenEnd | undefined> =>
  hasLinks(item) ? endOf(item, await scalesQueries(reader).tokenLinks(userOfToken(item), item)) : undefined

/** The tokens of scales. A token with the scope `device` also ends when the claim of its device ends, or when its creator leaves the location. */
export const deviceAccess: Access = {
  ...access,
  hasEnded: async (reader, item) => (await endIn(reader, item)) !== undefined,
}

const deviceToken = shape<
  PatItem & { readonly token?: string; readonly createdBy: string | null } & Partial<TokenEnd>
>()({
  ...tokenAnswer.fields,
  createdBy: { ...textOrNull, description: 'The member who created the token. Null if the operator created it.' },
  lastUsedAt: {
    ...text,
    optional: true,
    description: 'The last UTC day on which the token was used. Absent if it was never used.',
  },
  endedAt: { ...text, optional: true, description: 'When the token ended. Absent while the token works.' },
  endReason: {
    type: 'string',
    enum: ['device-released', 'creator-left'],
    optional: true,
    description: 'Why the token ended: the location released the device, or the member who created the token left.',
  },
})

/** True if the location may list and revoke the token. False for tokens of other locations, and for tokens of people. */
export const isTokenAt = (item: PatItem, { loc, epoch }: { loc: string; epoch: number }): boolean => {
  if (!isOfDevice(item)) return false
  return !hasLinks(item) || item.loc_id === loc || (item.loc_id === null && item.claim_epoch === epoch)
}

export const deviceTokenSchema = deviceToken.schema

export const deviceTokenView = async (reader: Reader, item: PatItem & { readonly token?: string }) =>
  deviceToken.view({ ...item, createdBy: hasLinks(item) ? item.createdBy : null, ...(await endIn(reader, item)) })
