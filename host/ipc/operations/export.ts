import { Fault } from '../../../schemas/fault.ts'
import type { Handler } from '../operations.ts'

export interface ExportArgs {
  readonly domain: string
  readonly key: string
  readonly history: boolean
}

const PAGE = 200

/** Reports everything of one key as rows, from the serving generation. */
export const exportKey: Handler<'export'> = async (runtime, { domain, key, history }, output) => {
  const exporter = runtime.config.domains.exporterOf(domain)
  const readerOf = (name: string) => runtime.pipeline(name).serving().store.reader(runtime.clock.now)
  const reader = readerOf(domain)
  const also = runtime.config.domains.recordOf(domain).also ?? []
  const further = Object.fromEntries(also.map(({ name }) => [name, readerOf(name)]))
  let cursor: string | undefined
  do {
    const page = await exporter.page(reader, key, {
      limit: PAGE,
      history,
      further,
      ...(cursor !== undefined && { cursor }),
    })
    if (page === undefined)
      throw new Fault(
        'export-unknown',
        `The domain ${domain} contains nothing of ${key}. See: tributary events --domain ${domain}.`,
      )
    for (const row of page.items) await output.row(row)
    cursor = page.cursor
  } while (cursor !== undefined && !output.signal.aborted)
}
