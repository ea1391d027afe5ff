import type { Forgot } from '../../processors/engine/people/forgetting.ts'
import { isNumberedPart, isPart } from '../../projections/subject.ts'
import { counted } from '../../schemas/counted.ts'
import { Fault } from '../../schemas/fault.ts'
import { confirmIrreversible } from '../confirm.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'
import { callOperation } from '../../host/ipc/call-operation.ts'

export interface ForgetOptions {
  readonly person?: string | undefined
  readonly subject?: string
  readonly yes?: true
  readonly json?: true
}

export const forget = async (
  context: Context,
  { person, subject = person, yes, json }: ForgetOptions,
): Promise<Exit> => {
  if (subject === undefined || subject === '' || (person !== undefined && person !== subject))
    throw new Fault('bad-usage', 'Name one person: tributary forget --subject ID.')
  if (
    !(await confirmIrreversible(
      `Destroy the key of ${subject}${isPart(subject) ? '' : ' and of all parts of this person'}? The personal data can never be read again.`,
      { yes, signal: context.signal, input: context.input },
    ))
  ) {
    context.output.note('Nothing was changed.')
    return EXIT.failed
  }
  const forgot = await callOperation(context, { name: 'forget', args: { subject }, opening: { processing: true } })
  if (json === true) context.output.line(JSON.stringify(forgot))
  else printForgotten(context, forgot)
  return forgot.left.length > 0 ? EXIT.failed : EXIT.fine
}

const printForgotten = ({ output }: Context, { subject, was, parts, places, items, plain, left }: Forgot): void => {
  const withParts = parts.length === 0 ? '' : ` with ${counted(parts.length, 'part')} (${parts.join(', ')})`
  if (was === 'unknown') output.line(`The log contains no personal data of ${subject}.`)
  else if (was === 'before')
    output.line(`${subject} was already forgotten, and the log contains no newer personal data of them.`)
  else if (left.length > 0)
    output.line(
      `The key of ${subject} is destroyed, so nobody can read their data from the log. These steps are not complete:`,
    )
  else
    output.line(
      `${subject} is forgotten${withParts}: the key${parts.length === 0 ? ' is' : 's are'} destroyed, ${counted(items, 'item')} of ${counted(places, 'log key')} contain no personal data, ${isNumberedPart(subject) ? '' : 'tokens are revoked, '}disks are cleared.`,
    )
  for (const reason of left) output.line(`  - ${reason}`)
  if (left.length > 0) output.note(`Then run it again: tributary forget --subject ${subject}`)
  if (plain > 0)
    output.note(
      `${counted(plain, 'event')} about ${subject} ${plain === 1 ? 'is' : 'are'} older than the key store: the plain text stays in the log. The items no longer contain it.`,
    )
}
