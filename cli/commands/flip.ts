import type { Generation } from '../../processors/engine/generations/generation.ts'
import { Fault } from '../../schemas/fault.ts'
import type { Context } from '../context.ts'
import { flipTo } from '../../host/serving/flipping.ts'
import { waitingAsksText } from '../../host/serving/domain-status.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'
import { forEachDomain } from '../../host/ipc/domain-access.ts'
import type { DomainAccess } from '../../host/ipc/domain-access.ts'

export interface FlipOptions {
  readonly domain: string
  readonly to?: number
  readonly acceptParked?: true
  readonly acceptUnfollowed?: true
  readonly json?: true
}

/** Makes another complete generation the serving one. It can be newer or older than the present one. */
export const flip = async (
  context: Context,
  { domain, to, acceptParked, acceptUnfollowed, json }: FlipOptions,
): Promise<Exit> => {
  const { output, signal } = context
  await forEachDomain(context, domain, async (access) => {
    const generations = await access.control.generations(domain)
    const target = to ?? newest(access, generations)
    const { before, isUnfollowed, waitingAsks } = await flipTo(access, target, {
      signal,
      output,
      acceptParked: acceptParked === true,
      acceptUnfollowed: acceptUnfollowed === true,
    })
    if (json === true)
      output.line(JSON.stringify({ domain, generation: target, before, standsStill: isUnfollowed, waitingAsks }))
    else
      output.line(
        before === target
          ? `generation ${target} of ${domain} is already serving`
          : `generation ${target} of ${domain} serves; generation ${before} stays. To flip back: tributary flip ${domain} --to ${before}`,
      )
    const waiting = waitingAsksText(domain, waitingAsks)
    if (waiting !== undefined) output.note(waiting)
    if (isUnfollowed) output.note(notFollowedText(access, generations, target))
  })
  return EXIT.fine
}

const newest = ({ domain, serving }: DomainAccess, generations: readonly Generation[]): number => {
  const next = generations.filter(({ generation, state }) => generation > serving && state === 'following').at(-1)
  if (next !== undefined) return next.generation
  throw new Fault(
    'bad-usage',
    `No complete generation of ${domain.name} is newer than the serving generation ${serving}. To flip back to an older one: --to N. See: tributary generations ${domain.name}.`,
  )
}

const notFollowedText = ({ domain }: DomainAccess, generations: readonly Generation[], to: number): string => {
  const version = generations.find(({ generation }) => generation === to)?.foldVersion
  return `No processor follows generation ${to} now, so it shows no new events. Run tributary start of the release with fold version ${version} (this program has version ${domain.foldVersion}).`
}
