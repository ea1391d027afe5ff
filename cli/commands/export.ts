import { csvHead, csvOf, type ExportRow } from '../../producers/exporting.ts'
import type { Context } from '../context.ts'
import { exporterOf } from '../domains.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'
import { ask } from '../reach.ts'

export interface ExportOptions {
  readonly domain: string
  readonly key: string
  readonly format: 'json' | 'csv'
  readonly history?: true
}

/** To stdout: one JSON a line, which `import` takes again, or CSV. */
export const exportOne = async (context: Context, { domain, key, format, history }: ExportOptions): Promise<Exit> => {
  const exporter = exporterOf(domain)
  let head = csvHead(exporter)
  const row = (told: unknown): void => {
    if (format === 'json') return context.output.line(JSON.stringify(told))
    const text = head + csvOf(exporter, [told as ExportRow])
    head = ''
    // Its last line ends here.
    if (text !== '') context.output.exact(text.slice(0, -1))
  }
  await ask(context, { name: 'export', args: { domain, key, history: history === true }, row })
  return context.signal.aborted ? EXIT.interrupted : EXIT.fine
}
