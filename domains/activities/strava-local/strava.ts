import { createAthletes, type Athletes } from './athletes.ts'
import { createLocalClock, type LocalClock } from './clock.ts'
import { createCounters, type Counters } from './counters.ts'
import { createFaults, type Faults } from './faults.ts'
import { createRateLimits, type RateLimits } from './limits.ts'
import { defaultSettings, type Settings } from './settings.ts'
import { createTokens, type Tokens } from './tokens.ts'
import { createWebhooks, type Webhooks } from './webhooks.ts'

/** The application that is registered with the service. */
export const APPLICATION = {
  clientId: '98765',
  clientSecret: 'loopback-client-secret',
  webhookSecret: 'loopback-webhook-path',
  verifyToken: 'loopback-verify-token',
  subscriptionId: '120475',
} as const

/** How an athlete answers the consent page. Scopes absent: the athlete grants every requested scope. */
export interface Consent {
  readonly athlete: string
  readonly scopes?: readonly string[]
  readonly isDenied: boolean
}

/** The whole state of the service. */
export interface LocalStrava {
  readonly clock: LocalClock
  readonly settings: Settings
  readonly athletes: Athletes
  readonly tokens: Tokens
  readonly limits: RateLimits
  readonly faults: Faults
  readonly counters: Counters
  readonly webhooks: Webhooks
  /** The answer to every authorization request. Undefined: a person answers on the consent page. */
  consent: Consent | undefined
}

export const createLocalStrava = (seed: number): LocalStrava => {
  const clock = createLocalClock()
  const settings = defaultSettings()
  return {
    clock,
    settings,
    athletes: createAthletes(settings),
    tokens: createTokens(seed, clock, settings),
    limits: createRateLimits(clock, settings),
    faults: createFaults(),
    counters: createCounters(clock),
    webhooks: createWebhooks(seed, clock, settings),
    consent: undefined,
  }
}
