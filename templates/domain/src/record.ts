import {
  access,
  accessFolds,
  accessRefusals,
  ACCESS_KINDS,
  COMMON_INTERNAL,
  defineDomain,
  forgetting,
  projection,
  TOKEN_INDEX,
  TTL,
  USER_PARTITIONS,
  words,
  type CommonEvent,
  type Domain,
} from 'tributary/domain'
import type { __Name__Event } from './generated/__name__.ts'
import { folds, MAX_AMOUNT } from './folds.ts'
import { entries, goneEntries, isEntryId, personal, summaries } from './items.ts'
import { refusals } from './refusals.ts'
import { routes } from './routes.ts'
import { simulationOf } from './simulation.ts'

const { personalItems, personForgotten } = forgetting({ personal })

const domain: Domain = {
  name: '__name__',
  topic: '__name__.events',
  table: {
    name: '__name__',
    ttl: TTL,
    indexes: [TOKEN_INDEX],
    kinds: [...[entries, goneEntries, summaries].map(({ kind }) => kind), ...ACCESS_KINDS],
  },
  // All items of a log key are in the partition of the person who is the key.
  partitions: USER_PARTITIONS,
  schemas: new URL('../schemas/', import.meta.url),
  foldVersion: 1,
  personal: personalItems,
  projections: [
    projection<__Name__Event | CommonEvent>('__name__', { ...folds, ...accessFolds, PersonForgotten: personForgotten }),
  ],
}

/** Everything that the program knows about this domain. The key of each event is the person whom it is about. */
export default defineDomain({
  domain,
  edge: { name: '__name__', routes, access, refusals: [accessRefusals, refusals] },
  // The rules of `tributary append`. `internal`: the events that only the program appends.
  appendRules: {
    internal: COMMON_INTERNAL,
    // The form of a person's id.
    key: /^[A-Za-z0-9_.:@-]{1,64}$/,
    isKeyAPerson: true,
    fields: {
      entryId: { is: isEntryId, what: 'an id of up to 64 letters, digits and -' },
      amount: { from: 1, to: MAX_AMOUNT },
      note: words({ maxLength: 500 }),
    },
  },
  simulation: async () => simulationOf(domain),
})
