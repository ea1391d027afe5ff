import { choiceOf, flagOf, membersOf, numberOf, type Members } from './fields.ts'

/** The behaviour of the service that the control API can change at any time. */
export interface Settings {
  /**
   * How refreshing treats refresh tokens. `strict`: a new access token comes with a new refresh token, and the old refresh token
   * is refused at once. `lenient`: the same, but older refresh tokens still work. `same`: the refresh token never changes.
   */
  rotation: 'strict' | 'lenient' | 'same'
  /** Inactive: each API call answers 403, and tokens can still be refreshed. */
  application: 'active' | 'inactive'
  /** Calls in 15 minutes and in a day, over all calls and over reads. */
  limits: { overall: readonly [number, number]; read: readonly [number, number] }
  /** Whether calls of /oauth count, and have the headers of the rate limits. */
  oauthCounts: boolean
  /** Athletes that can link the application at the same time. */
  athleteLimit: number
  /** How lists compare activities with a hidden start: by the start that the API shows, or by the real start. */
  hiddenOrder: 'shown' | 'start'
  webhooks: {
    /** A delivery that is not answered 200 within this time has failed. */
    timeoutMs: number
    /** The time from a failed attempt to the next one. */
    retryMs: number
    /** Deliveries that run at the same time. With 1, they start in the order of the events. */
    concurrency: number
    /** How often each event is delivered. */
    copies: number
    /** Events wait until they are released. */
    isPaused: boolean
    /** Whether a revocation by the application sends the event that a revocation by the athlete sends. */
    onAppRevocation: boolean
  }
}

export const defaultSettings = (): Settings => ({
  rotation: 'strict',
  application: 'active',
  limits: { overall: [200, 2_000], read: [100, 1_000] },
  oauthCounts: false,
  athleteLimit: 1_000_000,
  hiddenOrder: 'shown',
  webhooks: { timeoutMs: 2_000, retryMs: 60_000, concurrency: 1, copies: 1, isPaused: false, onAppRevocation: true },
})

const limitPair = (members: Members, name: string, otherwise: readonly [number, number]): readonly [number, number] => {
  const value = members[name] ?? otherwise
  if (!Array.isArray(value)) throw new Error(`"${name}" must be a list of two numbers, not ${JSON.stringify(value)}.`)
  const [quarter, day]: readonly unknown[] = value
  if (typeof quarter !== 'number' || typeof day !== 'number')
    throw new Error(`"${name}" must be a list of two numbers, not ${JSON.stringify(value)}.`)
  return [quarter, day]
}

/** Changes the settings that `members` contains. Throws, and changes nothing, if a name or a value is wrong. */
export const applySettings = (settings: Settings, members: Members): void => {
  const unknown = Object.keys(members).find((name) => !(name in settings))
  if (unknown !== undefined)
    throw new Error(`There is no setting "${unknown}". The settings are: ${Object.keys(settings).join(', ')}.`)
  const limits = membersOf(members['limits'])
  const webhooks = membersOf(members['webhooks'])
  const now = settings.webhooks
  Object.assign(settings, {
    rotation: choiceOf(members, 'rotation', ['strict', 'lenient', 'same'], settings.rotation),
    application: choiceOf(members, 'application', ['active', 'inactive'], settings.application),
    limits: {
      overall: limitPair(limits, 'overall', settings.limits.overall),
      read: limitPair(limits, 'read', settings.limits.read),
    },
    oauthCounts: flagOf(members, 'oauthCounts', settings.oauthCounts),
    athleteLimit: numberOf(members, 'athleteLimit', settings.athleteLimit),
    hiddenOrder: choiceOf(members, 'hiddenOrder', ['shown', 'start'], settings.hiddenOrder),
    webhooks: {
      timeoutMs: numberOf(webhooks, 'timeoutMs', now.timeoutMs),
      retryMs: numberOf(webhooks, 'retryMs', now.retryMs),
      concurrency: numberOf(webhooks, 'concurrency', now.concurrency),
      copies: numberOf(webhooks, 'copies', now.copies),
      isPaused: flagOf(webhooks, 'isPaused', now.isPaused),
      onAppRevocation: flagOf(webhooks, 'onAppRevocation', now.onAppRevocation),
    },
  } satisfies Settings)
}
