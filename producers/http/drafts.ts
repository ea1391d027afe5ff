import type { Event } from '../../schemas/event.ts'
import type { Draft } from './route.ts'

type Personal<E> = E extends Event<string, unknown, infer P> ? P : never

/** Creates events without metadata: `event('ExpenseDeleted', { expenseId })`. The third argument is the personal data of event types that have it. */
export type DraftOf<E extends Event> = <T extends E['type']>(
  type: T,
  data: Extract<E, Event<T>>['data'],
  ...personal: [Personal<Extract<E, Event<T>>>] extends [never] ? [] : [personal: Personal<Extract<E, Event<T>>> | null]
) => Draft

/** Returns the function that creates the drafts of a domain's events. `E` is the union of the domain's event types. */
export const drafts =
  <E extends Event>(): DraftOf<E> =>
  (type, data, ...[personal = null]) => ({ type, data, personal })
