import { earliest, NOTHING_DUE } from '../../../projections/outgoing-rows.ts'
import type { Outcome } from '../../../projections/projection.ts'
import { advance, unmovedCheckpoint, type AdvanceParts } from '../fold/advance.ts'

/**
 * Commits the events of a rejected span one by one, up to the first event that the store rejects by itself. So the same event is found,
 * however the log is divided into batches.
 */
export const isolateRejected: NonNullable<AdvanceParts['isolate']> = async (parts, span, error) => {
  const [only] = span.events
  if (span.events.length === 1 && only !== undefined)
    return { span, outcomes: [], due: NOTHING_DUE, poison: { logged: only, error } }
  const outcomes: (Outcome | undefined)[] = []
  let due = NOTHING_DUE
  for (const event of span.events) {
    const [advanced] = await advance({
      ...parts,
      spans: [{ ...span, events: [event] }],
      ...(parts.checkpoint && { checkpoint: unmovedCheckpoint(parts.checkpoint) }),
    })
    outcomes.push(...(advanced?.outcomes ?? []))
    due = earliest(due, advanced?.due ?? NOTHING_DUE)
    if (advanced?.poison !== undefined) return { span, outcomes, due, poison: advanced.poison }
  }
  return { span, outcomes, due }
}
