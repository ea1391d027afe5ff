import type { Context } from '../context.ts'
import { domainNamed } from '../domains.ts'
import type { NewToken, TokenRow } from '../operations/token.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'
import { ask } from '../reach.ts'

export interface CreateOptions {
  readonly user: string
  readonly domain: string
  readonly scopes: string
  readonly name: string
  readonly json?: true
}

const LATE = 'It is in the log, but no processor has made it visible yet; it will work as soon as one has.'

/** The secret alone goes to stdout, so that a script can take it. */
export const create = async (context: Context, { json, ...args }: CreateOptions): Promise<Exit> => {
  domainNamed(args.domain)
  const made = (await ask(context, { name: 'token-create', args, opening: { processing: true, first: true } })) as NewToken
  if (json === true) context.output.line(JSON.stringify(made))
  else {
    context.output.note(`Token ${made.id} of ${made.user}, scopes ${made.scopes.join(', ')}. It is shown this once; only its hash is kept:`)
    context.output.line(made.token)
  }
  if (!made.visible) context.output.note(LATE)
  return EXIT.fine
}

export const list = async (context: Context, { user, json }: { user?: string; json?: true }): Promise<Exit> => {
  const rows: TokenRow[] = []
  await ask(context, { name: 'token-list', args: user === undefined ? {} : { user }, row: (row) => rows.push(row as TokenRow) })
  if (json === true) for (const row of rows) context.output.line(JSON.stringify(row))
  else if (rows.length === 0) context.output.note('There are no tokens. Make one: tributary token create --user ID')
  else context.output.line(context.output.table([['id', 'user', 'name', 'scopes', 'last used'], ...rows.map((row) => [row.id, row.user, row.name, row.scopes.join(','), String(row.lastUsedAt ?? 'never')])]))
  return EXIT.fine
}

export const revoke = async (context: Context, { id, json }: { id: string; json?: true }): Promise<Exit> => {
  const revoked = (await ask(context, { name: 'token-revoke', args: { id }, opening: { processing: true } })) as { id: string; user: string; visible: boolean }
  if (json === true) context.output.line(JSON.stringify(revoked))
  else context.output.line(`Token ${revoked.id} of ${revoked.user} is revoked.`)
  if (!revoked.visible) context.output.note(LATE)
  return EXIT.fine
}
