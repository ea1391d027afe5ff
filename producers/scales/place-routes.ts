import type { LocationSettingsChangedData, MemberAddedData, MemberRemovedData } from '../../schemas/generated/scales.ts'
import { isUser } from '../../projections/access/keys.ts'
import { scalesQueries } from '../../projections/scales/queries.ts'
import { isZone, zoneName } from '../../projections/zone.ts'
import { listOf, pagingOf, pagingSchema } from '../http/lists.ts'
import { mistake } from '../http/problem.ts'
import { command, question, type Call, type Route } from '../http/route.ts'
import { integer, number, text } from '../http/schemas.ts'
import { LIMITS } from './limits.ts'
import { atLocation, demandOwner, locOf } from './rights.ts'

const settingsSchema = {
  type: 'object',
  properties: {
    grace_period_secs: integer,
    pour_window_hours: number,
    low_keg_pct: number,
    low_battery_pct: number,
    silent_after_secs: integer,
    timezone: text,
    pour_min_gallons: number,
    pour_settle_secs: integer,
  },
} as const

const settings = ({ caller: { reader }, params }: Pick<Call, 'caller' | 'params'>) => scalesQueries(reader).settings(locOf({ params }))

const readSettings = question({
  method: 'GET',
  url: '/v1/locations/:loc/settings',
  operationId: 'getSettings',
  summary: 'The settings of a location, those that nobody changed too.',
  result: settingsSchema,
  answer: settings,
})


const changeSettings = command({
  method: 'PATCH',
  url: '/v1/locations/:loc/settings',
  operationId: 'changeSettings',
  summary: 'Change some settings; what is not named stays.',
  body: {
    type: 'object',
    additionalProperties: false,
    minProperties: 1,
    properties: {
      grace_period_secs: { ...LIMITS.gracePeriodSecs, description: 'How long a breach must last before its alert fires.' },
      pour_window_hours: { ...LIMITS.pourWindowHours, description: 'The window over which the pour rate is taken.' },
      low_keg_pct: LIMITS.percent,
      low_battery_pct: LIMITS.percent,
      silent_after_secs: { ...LIMITS.silentAfterSecs, description: 'A device that says nothing for so long is silent.' },
      timezone: { type: 'string', maxLength: 64, description: 'IANA.' },
      pour_min_gallons: { ...LIMITS.pourMinGallons, description: 'A smaller step down is noise.' },
      pour_settle_secs: { ...LIMITS.pourSettleSecs, description: 'A pour has ended when the weight stayed for so long.' },
    },
  },
  status: 200,
  result: settingsSchema,
  decide: (call) => {
    const { timezone, ...rest } = call.body
    if (timezone !== undefined && !isZone(timezone)) {
      throw mistake(400, { pointer: '/timezone', code: 'bad-zone', detail: '/timezone must be a time zone of the IANA database, such as Europe/Berlin.' })
    }
    const data: LocationSettingsChangedData = { ...UNCHANGED, ...rest, timezone: timezone === undefined ? null : zoneName(timezone) }
    return { key: locOf(call), draft: { type: 'LocationSettingsChanged', data, personal: null } }
  },
  answer: settings,
})

const UNCHANGED: LocationSettingsChangedData = {
  grace_period_secs: null, pour_window_hours: null, low_keg_pct: null, low_battery_pct: null, silent_after_secs: null, timezone: null, pour_min_gallons: null, pour_settle_secs: null,
}

const memberSchema = { type: 'object', required: ['user_id', 'role'], properties: { user_id: text, role: { type: 'string', enum: ['owner', 'member'] }, since: text } } as const

const listMembers = question({
  method: 'GET',
  url: '/v1/locations/:loc/members',
  operationId: 'listLocationMembers',
  summary: 'The users who can read and run a location: its owner and its members.',
  query: { type: 'object', additionalProperties: false, properties: pagingSchema },
  result: listOf(memberSchema),
  answer: async (call) => {
    const [queries, loc] = [scalesQueries(call.caller.reader), locOf(call)]
    const [{ items, ...rest }, owner] = await Promise.all([queries.members(loc, pagingOf(call.query)), queries.owner(loc)])
    return { items: items.map(({ user_id, added_at }) => ({ user_id, role: user_id === owner?.user_id ? 'owner' : 'member', since: added_at })), ...rest }
  },
})

const userOf = ({ params }: Pick<Call, 'params'>): string => {
  const user = params['user'] ?? ''
  if (isUser(user)) return user
  throw mistake(400, { pointer: 'params/user', code: 'bad-name', detail: 'A user id has 1 to 64 letters, digits, and _ . : @ -' })
}

const addMember = command({
  method: 'PUT',
  url: '/v1/locations/:loc/members/:user',
  operationId: 'addLocationMember',
  summary: 'Let somebody read and run the location. The owner only.',
  status: 200,
  result: memberSchema,
  decide: async (call) => {
    const [loc, user_id] = [locOf(call), userOf(call)]
    await demandOwner(call, loc)
    return { key: loc, id: user_id, draft: { type: 'MemberAdded', data: { user_id } satisfies MemberAddedData, personal: null } }
  },
  answer: async (call) => {
    const user = userOf(call)
    const { owner, member } = await scalesQueries(call.caller.reader).rightsOf(locOf(call), user)
    if (owner?.user_id === user) return { user_id: user, role: 'owner', since: owner.opened_at }
    return member && { user_id: user, role: 'member', since: member.added_at }
  },
})

const removeMember = command({
  method: 'DELETE',
  url: '/v1/locations/:loc/members/:user',
  operationId: 'removeLocationMember',
  summary: 'Take somebody\'s access to the location. The owner, or the member themselves.',
  status: 200,
  result: { type: 'object', required: ['user_id', 'removed'], properties: { user_id: text, removed: { type: 'boolean' } } },
  decide: async (call) => {
    const [loc, user_id] = [locOf(call), userOf(call)]
    if (user_id !== call.caller.user) await demandOwner(call, loc)
    return { key: loc, id: user_id, draft: { type: 'MemberRemoved', data: { user_id } satisfies MemberRemovedData, personal: null } }
  },
  answer: async (call) => ({ user_id: userOf(call), removed: true }),
})

export const placeRoutes: readonly Route[] = atLocation([readSettings, changeSettings, listMembers, addMember, removeMember])
