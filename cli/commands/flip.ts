import type { Generation } from '../../processors/engine/control.ts'
import { Fault } from '../../schemas/fault.ts'
import type { Context } from '../context.ts'
import { flipTo } from '../flipping.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'
import { inWorkplaces } from '../workplace.ts'
import type { Workplace } from '../workplace.ts'

export interface FlipOptions {
  readonly domain: string
  readonly to?: number
  readonly acceptParked?: true
  readonly acceptUnfollowed?: true
  readonly json?: true
}

/** Serves another complete generation, forwards or back. */
export const flip = async (context: Context, { domain, to, acceptParked, acceptUnfollowed, json }: FlipOptions): Promise<Exit> => {
  const { output, signal } = context
  await inWorkplaces(context, domain, async (workplace) => {
    const generations = await workplace.control.generations(domain)
    const target = to ?? newest(workplace, generations)
    const { before, standsStill } = await flipTo(workplace, target, { signal, output, acceptParked: acceptParked === true, acceptUnfollowed: acceptUnfollowed === true })
    if (json === true) output.line(JSON.stringify({ domain, generation: target, before, standsStill }))
    else output.line(before === target ? `generation ${target} of ${domain} serves already` : `generation ${target} of ${domain} serves; generation ${before} stays: tributary flip ${domain} --to ${before} goes back`)
    if (standsStill) output.note(standing(workplace, generations, target))
  })
  return EXIT.fine
}

const newest = ({ domain, serving }: Workplace, generations: readonly Generation[]): number => {
  const next = generations.filter(({ generation, state }) => generation > serving && state === 'following').at(-1)
  if (next !== undefined) return next.generation
  throw new Fault('bad-usage', `No complete generation of ${domain.name} is newer than ${serving}, which serves. To go back to an older one, name it: --to N. See: tributary generations ${domain.name}.`)
}

const standing = ({ domain }: Workplace, generations: readonly Generation[], to: number): string => {
  const version = generations.find(({ generation }) => generation === to)?.foldVersion
  return `No processor follows generation ${to} now, so it shows no new events. Run tributary start of the release with fold version ${version} (this program has version ${domain.foldVersion}).`
}
