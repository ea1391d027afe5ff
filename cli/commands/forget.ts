import type { Forgot } from '../../processors/engine/forgetting.ts'
import { counted } from '../../schemas/counted.ts'
import { Fault } from '../../schemas/fault.ts'
import { confirmIrreversible } from '../confirm.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'
import { ask } from '../reach.ts'

export interface ForgetOptions {
  readonly person?: string | undefined
  readonly subject?: string
  readonly yes?: true
  readonly json?: true
}

export const forget = async (context: Context, { person, subject = person, yes, json }: ForgetOptions): Promise<Exit> => {
  if (subject === undefined || subject === '' || (person !== undefined && person !== subject)) throw new Fault('bad-usage', 'Name one person: tributary forget --subject ID.')
  if (!(await confirmIrreversible(`Destroy the key of ${subject}? Their personal data can never be read again.`, { yes, signal: context.signal, input: context.input }))) {
    context.output.note('Nothing was done.')
    return EXIT.failed
  }
  const forgot = (await ask(context, { name: 'forget', args: { subject }, opening: { processing: true } })) as Forgot
  if (json === true) context.output.line(JSON.stringify(forgot))
  else tell(context, forgot)
  return forgot.left.length > 0 ? EXIT.failed : EXIT.fine
}

const tell = ({ output }: Context, { subject, was, places, items, plain, left }: Forgot): void => {
  if (was === 'unknown') output.line(`Nothing personal was ever said about ${subject}.`)
  else if (was === 'before') output.line(`${subject} was forgotten before, and nothing personal was said since.`)
  else if (left.length > 0) output.line(`The key of ${subject} is destroyed, so nothing of it can be read from the log; but it is not complete:`)
  else output.line(`${subject} is forgotten: the key is destroyed, ${counted(items, 'item')} of ${counted(places.length, 'log key')} hold nothing personal, tokens are revoked, disks are cleared.`)
  for (const reason of left) output.line(`  - ${reason}`)
  if (left.length > 0) output.note(`Then run it again: tributary forget --subject ${subject}`)
  if (plain > 0) output.note(`${counted(plain, 'event')} about ${subject} ${plain === 1 ? 'is' : 'are'} from before there were keys: the plain text stays in the log. The items no longer show it.`)
}
