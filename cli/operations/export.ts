import { Fault } from '../../schemas/fault.ts'
import { exporterOf } from '../domains.ts'
import type { Operation } from '../operations.ts'

export interface ExportArgs {
  readonly domain: string
  readonly key: string
  readonly history: boolean
}

const PAGE = 200

/** Everything of one key, row by row, from the generation that serves. */
export const exportKey: Operation<ExportArgs> = async (runtime, { domain, key, history }, says) => {
  const exporter = exporterOf(domain)
  const reader = runtime.pipeline(domain).serving().store.reader(runtime.clock.now)
  let cursor: string | undefined
  do {
    const page = await exporter.page(reader, key, { limit: PAGE, history, ...(cursor !== undefined && { cursor }) })
    if (page === undefined) throw new Fault('export-unknown', `There is nothing of ${key} in ${domain}. See: tributary events --domain ${domain}.`)
    for (const row of page.items) await says.row(row)
    cursor = page.cursor
  } while (cursor !== undefined && !says.signal.aborted)
}
