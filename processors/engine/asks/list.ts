import type { AskHandler } from '../../../projections/ask.ts'
import { listBodyOf } from '../outgoing/ask-bodies.ts'

/** Answers an ask of kind `list` with the keys of a partition of the domain's table. Calls nothing outside. */
export const listHandler: AskHandler = {
  call: async ({ body, reader }) => {
    const { answer, data, ...query } = listBodyOf(body)
    const { items, cursor } = await reader.query(query)
    const keys = items.map(({ PK, SK }) => ({ pk: PK, sk: SK }))
    return { events: [{ type: answer, data: { ...data, items: keys, more: cursor !== undefined } }] }
  },
}
