import { Agent } from 'node:http'
import { createRandom } from '../../../simulation/random.ts'
import type { LocalClock } from './clock.ts'
import { createDeliveryQueue, type RunResult } from './delivery-queue.ts'
import { callCallback, type CallbackResult } from './delivery.ts'
import { idNumber, toJson } from './json.ts'
import type { Settings } from './settings.ts'

/** Strava sends an event at most three times. */
const MAX_ATTEMPTS = 3
/** The log keeps so many of the newest deliveries. */
const LOG_SIZE = 10_000

export interface WebhookEvent {
  readonly objectType: string
  readonly objectId: string
  readonly aspect: string
  readonly ownerId: string
  readonly eventTime: number
  /** Every value is a string, also `"true"` and `"false"`. */
  readonly updates: Readonly<Record<string, string>>
  readonly subscriptionId: string
}

/** One delivery of one event. `dropped`: there was no subscription. `failed`: three attempts failed. */
export interface Delivery {
  readonly number: number
  readonly event: WebhookEvent
  state: 'held' | 'pending' | 'delivered' | 'failed' | 'dropped'
  readonly attempts: { readonly at: string; readonly status?: number; readonly error?: string }[]
}

/** The subscription of the application. Strava allows one. */
export interface Subscription {
  readonly callbackUrl: string
  readonly createdAtS: number
}

export const RELEASE_ORDERS = ['sent', 'reversed', 'shuffled'] as const
export type ReleaseOrder = (typeof RELEASE_ORDERS)[number]

export interface Webhooks {
  subscription: Subscription | undefined
  send(event: WebhookEvent): void
  /** Starts the deliveries that wait because webhooks are paused, in an order, each `copies` times. Returns how many it starts. */
  release(order: ReleaseOrder, seed: number, copies: number): number
  /** Resolves when no delivery runs or can start now. Failed deliveries can still wait for their next attempt. */
  settled(): Promise<void>
  log(): readonly Delivery[]
  totals(): Readonly<Record<'events' | 'attempts' | 'delivered' | 'failed' | 'dropped' | 'held' | 'waiting', number>>
  /** Asks a callback to return a challenge. Returns the code of Strava's error if it does not. */
  challenge(callbackUrl: string, verifyToken: string): Promise<string | undefined>
  stop(): void
}

const bodyOf = (event: WebhookEvent): string =>
  toJson({
    aspect_type: event.aspect,
    event_time: event.eventTime,
    object_id: idNumber(event.objectId),
    object_type: event.objectType,
    owner_id: idNumber(event.ownerId),
    subscription_id: idNumber(event.subscriptionId),
    updates: event.updates,
  })

const inOrder = (deliveries: readonly Delivery[], order: ReleaseOrder, seed: number): readonly Delivery[] => {
  if (order === 'sent') return deliveries
  return order === 'reversed' ? deliveries.toReversed() : createRandom(seed).shuffled(deliveries)
}

/** The code of Strava's error for an answer to the challenge. */
const challengeError = (result: CallbackResult, challenge: string): string | undefined => {
  if ('error' in result) return 'not verifiable'
  if (result.status !== 200) return 'GET to callback URL does not return 200'
  try {
    const body: unknown = JSON.parse(result.body)
    if (typeof body === 'object' && body !== null && Reflect.get(body, 'hub.challenge') === challenge) return undefined
  } catch {
    // The answer is not JSON.
  }
  return 'not verifiable'
}

export const createWebhooks = (seed: number, clock: LocalClock, settings: Settings): Webhooks => {
  const log = new Map<number, Delivery>()
  const totals = { events: 0, attempts: 0, delivered: 0, failed: 0, dropped: 0 }
  const agent = new Agent({ keepAlive: true })
  let held: Delivery[] = []
  let made = 0
  let challenges = 0

  const attempt = async (delivery: Delivery): Promise<RunResult> => {
    const { subscription } = webhooks
    if (subscription === undefined) {
      delivery.state = 'dropped'
      totals.dropped++
      return 'ended'
    }
    totals.attempts++
    const at = new Date(clock.now()).toISOString()
    const { timeoutMs, retryMs } = settings.webhooks
    const body = bodyOf(delivery.event)
    const result = await callCallback(new URL(subscription.callbackUrl), { method: 'POST', body, timeoutMs, agent })
    delivery.attempts.push('error' in result ? { at, error: result.error } : { at, status: result.status })
    const isDelivered = 'status' in result && result.status === 200
    if (!isDelivered && delivery.attempts.length < MAX_ATTEMPTS) return { again: clock.now() + retryMs }
    delivery.state = isDelivered ? 'delivered' : 'failed'
    totals[delivery.state]++
    return 'ended'
  }
  const queue = createDeliveryQueue(clock, () => settings.webhooks.concurrency, attempt)

  const newDelivery = (event: WebhookEvent): Delivery => {
    const delivery: Delivery = { number: made++, event, state: 'held', attempts: [] }
    log.set(delivery.number, delivery)
    log.delete(delivery.number - LOG_SIZE)
    return delivery
  }
  const start = (delivery: Delivery): void => {
    delivery.state = 'pending'
    queue.add(delivery)
  }
  const webhooks: Webhooks = {
    subscription: undefined,
    send: (event) => {
      totals.events++
      const deliveries = Array.from({ length: settings.webhooks.copies }, () => newDelivery(event))
      if (settings.webhooks.isPaused) held.push(...deliveries)
      else for (const delivery of deliveries) start(delivery)
    },
    release: (order, shuffleSeed, copies) => {
      const first = held
      held = []
      const again = Array.from({ length: copies - 1 }, () => first.map(({ event }) => newDelivery(event))).flat()
      const released = inOrder([...first, ...again], order, shuffleSeed)
      for (const delivery of released) start(delivery)
      return released.length
    },
    settled: () => queue.settled(),
    log: () => [...log.values()],
    totals: () => ({ ...totals, held: held.length, waiting: queue.size() }),
    challenge: async (callbackUrl, verifyToken) => {
      const challenge = `challenge-${seed}-${challenges++}`
      const url = new URL(callbackUrl)
      url.searchParams.set('hub.mode', 'subscribe')
      url.searchParams.set('hub.challenge', challenge)
      url.searchParams.set('hub.verify_token', verifyToken)
      const { timeoutMs } = settings.webhooks
      return challengeError(await callCallback(url, { method: 'GET', timeoutMs, agent }), challenge)
    },
    stop: () => {
      queue.stop()
      agent.destroy()
    },
  }
  return webhooks
}
