import { firstDomain, type Context } from '../context.ts'
import type { TokenRow } from '../../host/ipc/operations/token.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'
import { callOperation } from '../../host/ipc/call-operation.ts'

export interface CreateOptions {
  readonly user: string
  readonly domain?: string
  readonly scopes: string
  readonly name: string
  readonly json?: true
}

const LATE = 'The change is in the log, but no processor has folded it yet. It takes effect when a processor folds it.'

/** Without `--json`, writes only the secret to stdout, so that a script can use it. */
export const create = async (context: Context, { json, ...options }: CreateOptions): Promise<Exit> => {
  const args = { ...options, domain: options.domain ?? firstDomain(context) }
  context.domains.named(args.domain)
  const created = await callOperation(context, {
    name: 'token-create',
    args,
    opening: { processing: true, first: true },
  })
  if (json === true) context.output.line(JSON.stringify(created))
  else {
    context.output.note(
      `Token ${created.id} of ${created.user}, scopes ${created.scopes.join(', ')}. The secret is shown only once; the program stores only its hash:`,
    )
    context.output.line(created.token)
  }
  if (!created.visible) context.output.note(LATE)
  return EXIT.fine
}

export const list = async (context: Context, { user, json }: { user?: string; json?: true }): Promise<Exit> => {
  const rows: TokenRow[] = []
  await callOperation(context, {
    name: 'token-list',
    args: user === undefined ? {} : { user },
    row: (row) => rows.push(row),
  })
  if (json === true) for (const row of rows) context.output.line(JSON.stringify(row))
  else if (rows.length === 0) context.output.note('There are no tokens. Create one: tributary token create --user ID')
  else
    context.output.line(
      context.output.table([
        ['id', 'user', 'name', 'scopes', 'last used'],
        ...rows.map((row) => [row.id, row.user, row.name, row.scopes.join(','), String(row.lastUsedAt ?? 'never')]),
      ]),
    )
  return EXIT.fine
}

export const revoke = async (context: Context, { id, json }: { id: string; json?: true }): Promise<Exit> => {
  const revoked = await callOperation(context, { name: 'token-revoke', args: { id }, opening: { processing: true } })
  if (json === true) context.output.line(JSON.stringify(revoked))
  else context.output.line(`Token ${revoked.id} of ${revoked.user} is revoked.`)
  if (!revoked.visible) context.output.note(LATE)
  return EXIT.fine
}
