/** The part of an OpenAPI document that the page shows. */
export interface OpenApi {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

interface Operation {
  readonly summary?: string
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly required?: boolean
    readonly schema?: unknown
  }[]
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly schema?: unknown }>> }
  readonly responses?: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: unknown }>> }>
  >
}

/** A static HTML page without scripts. It shows every route with its parameters, body and answers. */
export const docsPage = ({ info, paths }: OpenApi): string => `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escaped(info.title)} ${escaped(info.version)}</title>
<style>${STYLE}</style>
<h1>${escaped(info.title)} <small>${escaped(info.version)}</small></h1>
<p>${escaped(info.description ?? '')} The machine-readable form is <a href="/openapi.json">/openapi.json</a>.</p>
${Object.entries(paths)
  .flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => section(path, method, operation)),
  )
  .join('\n')}
</html>
`

const section = (
  path: string,
  method: string,
  { summary, parameters, requestBody, responses }: Operation,
): string => `<details>
<summary><code><b>${escaped(method.toUpperCase())}</b> ${escaped(path)}</code> ${escaped(summary ?? '')}</summary>
${parameters?.length ? `<h3>Parameters</h3><ul>${parameters.map(parameter).join('')}</ul>` : ''}
${block('Body', requestBody?.content)}
${Object.entries(responses ?? {})
  .map(([status, { content }]) => block(`Answer ${status}`, content))
  .join('\n')}
</details>`

const parameter = ({ name, in: place, required, schema }: NonNullable<Operation['parameters']>[number]): string =>
  `<li><code>${escaped(name)}</code> in ${escaped(place)}${required ? ', required' : ''} <code>${escaped(JSON.stringify(schema ?? {}))}</code></li>`

const block = (title: string, content: NonNullable<Operation['requestBody']>['content']): string => {
  const [first] = Object.values(content ?? {})
  return first ? `<h3>${escaped(title)}</h3><pre>${escaped(JSON.stringify(first.schema, null, 2))}</pre>` : ''
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escaped = (text: string): string => text.replace(/[&<>"']/g, (char) => ESCAPES[char] ?? char)

const STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
details { border-top: 1px solid #ccc; padding: .5rem 0; } summary { cursor: pointer; }
pre { background: #f6f6f6; padding: 1rem; overflow: auto; font-size: 13px; } h3 { font-size: 1rem; margin: 1rem 0 .25rem; }
@media (prefers-color-scheme: dark) { body { background: #111; color: #ddd; } pre { background: #1c1c1c; } a { color: #8cf; } }
`
