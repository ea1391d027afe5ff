import type { ProfileItem } from '../../projections/activities/items.ts'
import { profiles } from '../../projections/activities/keys.ts'
import type { UserSessions } from '../access/sessions.ts'
import { action, question, type Route } from '../http/route.ts'
import { text, textOrNull } from '../http/schemas.ts'
import { shape } from '../http/shape.ts'
import { requireNotDeleting } from './account.ts'
import { event } from './params.ts'

type Account = Pick<ProfileItem, 'userId' | 'email'> & { readonly createdAtUtc: string | null; readonly status: string }

const profile = shape<Account>()({
  userId: text,
  email: textOrNull,
  createdAtUtc: { ...textOrNull, description: 'Null before your first command, which opens the account.' },
  status: { ...text, description: 'NONE or ACTIVE.' },
})

const getAccount = question({
  method: 'GET',
  url: '/account',
  operationId: 'getAccount',
  summary: 'Get your account.',
  admit: requireNotDeleting,
  result: profile.schema,
  answer: async ({ caller: { reader, user, email = null } }) => {
    const stored = await profiles.get(reader, user)
    return profile.view(stored ?? { userId: user, email, createdAtUtc: null, status: 'NONE' })
  },
})

const DELETING = { status: 'DELETING' } as const

const deleteAccount = (sessions: UserSessions | undefined): Route =>
  action({
    method: 'DELETE',
    url: '/account',
    operationId: 'deleteAccount',
    summary:
      'Delete your account of this domain: your milestones, awards, tokens and everything from Strava. Your data in other domains stays.',
    status: 200,
    result: { type: 'object', required: ['status'], properties: { status: { type: 'string', enum: ['DELETING'] } } },
    perform: async ({ caller: { reader, user }, append }) => {
      if ((await profiles.get(reader, user))?.status !== 'DELETING')
        await append({ draft: event('AccountDeletionRequested', {}) })
      await sessions?.endAll(user)
      return { status: 200, json: DELETING }
    },
  })

export const accountRoutes = (sessions: UserSessions | undefined): readonly Route[] => [
  getAccount,
  deleteAccount(sessions),
]
