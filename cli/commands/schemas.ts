import { counted } from '../../schemas/counted.ts'
import { checkSchemas, listSchemas } from '../../schemas/compatibility.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'

/** Enough to tell two schemas apart; `--json` has all digits. */
const SHOWN_DIGITS = 10

export const show = ({ output }: Context, { json }: { json?: true }): Promise<Exit> => {
  const schemas = listSchemas()
  if (json === true) for (const schema of schemas) output.line(JSON.stringify(schema))
  else output.line(output.table([['id', 'record', 'v', 'fingerprint', ''], ...schemas.map((each) => [String(each.id), each.name, String(each.version), each.fingerprint.slice(0, SHOWN_DIGITS), each.current ? 'current' : ''])]))
  return Promise.resolve(EXIT.fine)
}

export const check = ({ output }: Context, { json }: { json?: true }): Promise<Exit> => {
  const { ok, schemas, problems } = checkSchemas()
  if (json === true) output.line(JSON.stringify({ ok, schemas: schemas.length, problems }))
  else {
    for (const problem of problems) output.line(Object.values(problem).join(': '))
    output.note(ok ? `${counted(schemas.length, 'schema')}: each reads what all its versions wrote.` : `${counted(problems.length, 'problem')} in ${counted(schemas.length, 'schema')}.`)
  }
  return Promise.resolve(ok ? EXIT.fine : EXIT.differs)
}
