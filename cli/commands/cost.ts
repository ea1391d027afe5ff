import { costsOf, type Cost, type Costs } from '../../processors/adapters/dynamodb/cost.ts'
import { onlyKeys } from '../../processors/engine/proof/sample.ts'
import type { Context } from '../context.ts'
import { draw } from '../draw.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'
import type { Scratch } from '../../host/wiring/embedded.ts'
import { forEachDomain } from '../../host/ipc/domain-access.ts'
import type { DomainAccess } from '../../host/ipc/domain-access.ts'
import { endsOf, totalOf } from '../../processors/engine/generations/positions.ts'
import { counted } from '../../schemas/counted.ts'

export interface CostOptions {
  readonly domain?: string | undefined
  readonly sample?: number
  readonly window: number
  readonly eventsPerMonth?: number
  readonly writePrice: number
  readonly readPrice: number
  readonly json?: true
}

const MONTH_MS = 30 * 86_400_000

/**
 * Prints what DynamoDB would charge for folding this log, and for folding it with one transaction per event. Computes both from the documented
 * rules of DynamoDB.
 */
export const cost = async (context: Context, options: CostOptions): Promise<Exit> => {
  await forEachDomain(context, options.domain, async (access) => {
    const measured = await measure(context, access, options)
    const monthly = options.eventsPerMonth ?? (await rateOf(access, measured.costs.span))
    printCosts(context, options, { domain: access.domain.name, monthly, ...measured })
  })
  return EXIT.fine
}

const measure = async (
  { output, signal }: Context,
  access: DomainAccess,
  { sample, window }: CostOptions,
): Promise<{ costs: Costs; keys: number | null }> => {
  const { domain, codec, log } = access
  const keys = sample === undefined ? undefined : await draw(log, sample)
  const scratches: Scratch[] = []
  const scratch = async () => {
    const made = await access.scratch()
    scratches.push(made)
    return made.store
  }
  try {
    const costs = await costsOf({
      domain,
      codec,
      scratch,
      signal,
      log: keys === undefined ? log : { ...onlyKeys(log, keys), watermarks: log.watermarks },
      windowMs: window,
      progress: (events) => output.progress(`${domain.name}: ${counted(events, 'event')} measured`),
    })
    return { costs, keys: keys?.length ?? null }
  } finally {
    for (const made of scratches) await made.remove()
  }
}

/** The number of events per month at the rate at which this log grew. If all events have the same time: the number of events. */
const rateOf = async ({ log }: DomainAccess, [first, last]: Costs['span']): Promise<number> => {
  const count = totalOf(await endsOf(log))
  return last > first ? Math.round((count * MONTH_MS) / (last - first)) : count
}

interface Measured {
  readonly domain: string
  readonly costs: Costs
  readonly keys: number | null
  readonly monthly: number
}

type Method = Exclude<keyof Costs, 'span'>
const NAMES: { readonly [Name in Method]: string } = {
  source: 'one transaction per event',
  trickle: 'Tributary, one by one',
  arrived: 'Tributary, batched',
  rebuild: 'a rebuild of everything',
}

const printCosts = ({ output }: Context, options: CostOptions, { domain, costs, keys, monthly }: Measured): void => {
  const prices = { writePrice: options.writePrice, readPrice: options.readPrice }
  if (options.json === true)
    return output.line(JSON.stringify({ domain, keys, eventsPerMonth: monthly, ...prices, ...costs }))
  const { events } = costs.source
  output.line(
    output.bold(`${domain}: ${counted(events, 'event')}${keys === null ? '' : ` of ${counted(keys, 'key')}`}`),
  )
  const perEvent = (amount: number): string => (events === 0 ? '-' : (amount / events).toFixed(2))
  const rows = (Object.keys(NAMES) as Method[]).map((method) => {
    const { domain: own, bookkeeping, readUnits, requests } = costs[method]
    const ratio = costs.source.domain === 0 ? '-' : (own / costs.source.domain).toFixed(2)
    return [
      NAMES[method],
      perEvent(own),
      ratio,
      perEvent(bookkeeping),
      perEvent(readUnits),
      perEvent(requests),
      method === 'rebuild'
        ? `$${priceOf(costs[method], prices).toFixed(4)} once`
        : `$${monthlyBill(costs[method], monthly, prices).toFixed(2)}`,
    ]
  })
  const numbers = ['writes', 'ratio', 'upkeep', 'reads', 'requests', 'a month']
  output.line(output.table([['per event', ...numbers], ...rows], { right: numbers }))
  output.note(
    `Writes and reads are DynamoDB units. Upkeep: write units of the program's bookkeeping rows. Events per month: ${monthly.toLocaleString('en')}.`,
  )
  output.note(
    `Prices per million: $${options.writePrice} for write units, $${options.readPrice} for read units (on demand; --write-price, --read-price). The bill does not include storage, streams and backups.`,
  )
}

interface Prices {
  /** Dollars per million write units. */
  readonly writePrice: number
  /** Dollars per million read units. */
  readonly readPrice: number
}

const priceOf = ({ domain, bookkeeping, readUnits }: Cost, { writePrice, readPrice }: Prices): number =>
  ((domain + bookkeeping) * writePrice + readUnits * readPrice) / 1e6

const monthlyBill = (cost: Cost, monthly: number, prices: Prices): number =>
  cost.events === 0 ? 0 : (priceOf(cost, prices) / cost.events) * monthly
