import { csvHeader, csvRows, type ExportRow } from '../../producers/exporting.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'
import { callOperation } from '../../host/ipc/call-operation.ts'

export interface ExportOptions {
  readonly domain: string
  readonly key: string
  readonly format: 'json' | 'csv'
  readonly history?: true
}

/** Writes the rows of one key to stdout: one JSON object per line, which `import` reads, or CSV. */
export const exportOne = async (context: Context, { domain, key, format, history }: ExportOptions): Promise<Exit> => {
  const exporter = context.domains.exporterOf(domain)
  let head = csvHeader(exporter)
  const row = (exported: ExportRow): void => {
    if (format === 'json') return context.output.line(JSON.stringify(exported))
    const text = head + csvRows(exporter, [exported])
    head = ''
    // `exact` adds a line feed at the end, so the last line feed of the text is left out.
    if (text !== '') context.output.exact(text.slice(0, -1))
  }
  await callOperation(context, { name: 'export', args: { domain, key, history: history === true }, row })
  return context.signal.aborted ? EXIT.interrupted : EXIT.fine
}
