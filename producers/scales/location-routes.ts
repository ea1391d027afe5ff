import type { LocationSettingsChangedData } from '../../schemas/generated/scales.ts'
import { isUser } from '../../projections/access/keys.ts'
import type { MemberItem, OwnerItem, Settings } from '../../projections/scales/items.ts'
import { isZone, zoneName } from '../../projections/zone.ts'
import { listing } from '../http/lists.ts'
import { pathId } from '../http/path-id.ts'
import { mistake } from '../http/problem.ts'
import { command, question, type Call, type Route } from '../http/route.ts'
import { bool, integer, number, text } from '../http/schemas.ts'
import { shape } from '../http/shape.ts'
import { LIMITS } from './limits.ts'
import { event, queriesOf } from './params.ts'
import { atLocation, requireOwner, locOf } from './rights.ts'
import { members, owners } from '../../projections/scales/keys.ts'

const settingsAnswer = shape<Settings>()({
  grace_period_secs: integer,
  pour_window_hours: number,
  low_keg_pct: number,
  low_battery_pct: number,
  silent_after_secs: integer,
  timezone: text,
  pour_min_gallons: number,
  pour_settle_secs: integer,
})

const settings = async (call: Pick<Call, 'caller' | 'params'>) =>
  settingsAnswer.view(await queriesOf(call).settings(locOf(call)))

const readSettings = question({
  method: 'GET',
  url: '/v1/locations/:loc/settings',
  operationId: 'getSettings',
  summary: 'Get the settings of a location. Settings that nobody changed have their defaults.',
  result: settingsAnswer.schema,
  answer: settings,
})

const changeSettings = command({
  method: 'PATCH',
  url: '/v1/locations/:loc/settings',
  operationId: 'changeSettings',
  summary: 'Change some settings. The others stay as they are.',
  body: {
    type: 'object',
    additionalProperties: false,
    minProperties: 1,
    properties: {
      grace_period_secs: {
        ...LIMITS.gracePeriodSecs,
        description: 'How long a value must be below its threshold before an alert fires.',
      },
      pour_window_hours: { ...LIMITS.pourWindowHours, description: 'The time window of the pour rate.' },
      low_keg_pct: LIMITS.percent,
      low_battery_pct: LIMITS.percent,
      silent_after_secs: {
        ...LIMITS.silentAfterSecs,
        description: 'A device without a message for this long is silent.',
      },
      timezone: { type: 'string', maxLength: 64, description: 'A time zone of the IANA database.' },
      pour_min_gallons: {
        ...LIMITS.pourMinGallons,
        description: 'A smaller fall of the level is noise and not a pour.',
      },
      pour_settle_secs: {
        ...LIMITS.pourSettleSecs,
        description: 'A pour ends when the weight has not fallen for this long.',
      },
    },
  },
  status: 200,
  result: settingsAnswer.schema,
  decide: (call) => {
    const { timezone, ...rest } = call.body
    if (timezone !== undefined && !isZone(timezone)) {
      throw mistake(400, {
        pointer: '/timezone',
        code: 'bad-zone',
        detail: '/timezone must be a time zone of the IANA database, such as Europe/Berlin.',
      })
    }
    return {
      key: locOf(call),
      draft: event('LocationSettingsChanged', {
        ...UNCHANGED,
        ...rest,
        timezone: timezone === undefined ? null : zoneName(timezone),
      }),
    }
  },
  answer: settings,
})

const UNCHANGED: LocationSettingsChangedData = {
  grace_period_secs: null,
  pour_window_hours: null,
  low_keg_pct: null,
  low_battery_pct: null,
  silent_after_secs: null,
  timezone: null,
  pour_min_gallons: null,
  pour_settle_secs: null,
}

const memberAnswer = shape<Pick<MemberItem, 'user_id' | 'added_at'> & { readonly owner: OwnerItem | undefined }>()({
  user_id: text,
  role: {
    type: 'string',
    enum: ['owner', 'member'],
    from: ({ user_id, owner }) => (user_id === owner?.user_id ? 'owner' : 'member'),
  },
  since: { ...text, optional: true, from: ({ added_at }) => added_at },
})

const listMembers = listing({
  url: '/v1/locations/:loc/members',
  operationId: 'listLocationMembers',
  summary: 'List the owner and the members of a location.',
  of: memberAnswer,
  page: async (call, paging) => {
    const [{ reader }, loc] = [call.caller, locOf(call)]
    const [{ items, ...rest }, owner] = await Promise.all([members.page(reader, loc, paging), owners.get(reader, loc)])
    return { items: items.map((member) => ({ ...member, owner })), ...rest }
  },
})

const userOf = pathId('user', isUser, () =>
  mistake(400, {
    pointer: 'params/user',
    code: 'bad-name',
    detail: 'A user id has 1 to 64 letters, digits, and _ . : @ -',
  }),
)

const addMember = command({
  method: 'PUT',
  url: '/v1/locations/:loc/members/:user',
  operationId: 'addLocationMember',
  summary: 'Add a member, who can read and change everything in the location. Only the owner can do this.',
  status: 200,
  result: memberAnswer.schema,
  decide: async (call) => {
    const [loc, user_id] = [locOf(call), userOf(call)]
    await requireOwner(call, loc)
    return { key: loc, id: user_id, draft: event('MemberAdded', { user_id }) }
  },
  answer: async (call) => {
    const user_id = userOf(call)
    const { owner, member } = await queriesOf(call).rightsOf(locOf(call), user_id)
    const added_at = owner?.user_id === user_id ? owner.opened_at : member?.added_at
    return added_at === undefined ? undefined : memberAnswer.view({ user_id, added_at, owner })
  },
})

const removeMember = command({
  method: 'DELETE',
  url: '/v1/locations/:loc/members/:user',
  operationId: 'removeLocationMember',
  summary: 'Remove a member. The owner and the member can do this.',
  status: 200,
  result: { type: 'object', required: ['user_id', 'removed'], properties: { user_id: text, removed: bool } },
  decide: async (call) => {
    const [loc, user_id] = [locOf(call), userOf(call)]
    if (user_id !== call.caller.user) await requireOwner(call, loc)
    return { key: loc, id: user_id, draft: event('MemberRemoved', { user_id }) }
  },
  answer: async (call) => ({ user_id: userOf(call), removed: true }),
})

export const placeRoutes: readonly Route[] = atLocation([
  readSettings,
  changeSettings,
  listMembers,
  addMember,
  removeMember,
])
