import type { AskHandlers } from '../../../projections/ask.ts'
import { backfillHandler } from './backfill.ts'
import { checkHandler } from './check.ts'
import { fetchHandler } from './fetch.ts'
import type { AskParts } from './link.ts'
import { resyncHandler } from './resync.ts'
import { revokeHandler } from './revoke.ts'

/** The handlers of the asks of the activities domain, by kind. */
export const stravaAskHandlers = (parts: AskParts): AskHandlers => ({
  fetch: fetchHandler(parts),
  backfill: backfillHandler(parts),
  resync: resyncHandler(parts),
  check: checkHandler(parts),
  revoke: revokeHandler(parts),
})
