import { costsOf, type Cost, type Costs } from '../../processors/adapters/dynamodb/cost.ts'
import { onlyKeys } from '../../processors/engine/sample.ts'
import type { Context } from '../context.ts'
import { draw } from '../draw.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'
import type { Scratch } from '../adapters.ts'
import { inWorkplaces } from '../workplace.ts'
import type { Workplace } from '../workplace.ts'
import { endsOf, totalOf } from '../../processors/engine/positions.ts'
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

/** What this log costs on DynamoDB, by its documented rules, beside the source documents' way over the same items. */
export const cost = async (context: Context, options: CostOptions): Promise<Exit> => {
  await inWorkplaces(context, options.domain, async (workplace) => {
    const measured = await measure(context, workplace, options)
    const monthly = options.eventsPerMonth ?? (await rateOf(workplace, measured.costs.span))
    tell(context, options, { domain: workplace.domain.name, monthly, ...measured })
  })
  return EXIT.fine
}

const measure = async ({ output, signal }: Context, workplace: Workplace, { sample, window }: CostOptions): Promise<{ costs: Costs; keys: number | null }> => {
  const { domain, codec, log } = workplace
  const keys = sample === undefined ? undefined : await draw(log, sample)
  const scratches: Scratch[] = []
  const scratch = async () => {
    const made = await workplace.scratch()
    scratches.push(made)
    return made.store
  }
  try {
    const costs = await costsOf({
      domain, codec, scratch, signal,
      log: keys === undefined ? log : { ...onlyKeys(log, keys), watermarks: log.watermarks },
      windowMs: window,
      progress: (events) => output.progress(`${domain.name}: ${counted(events, 'event')} weighed`),
    })
    return { costs, keys: keys?.length ?? null }
  } finally {
    for (const made of scratches) await made.remove()
  }
}

/** Events a month, at the rate at which this log grew. */
const rateOf = async ({ log }: Workplace, [first, last]: Costs['span']): Promise<number> => {
  const count = totalOf(await endsOf(log))
  return last > first ? Math.round((count * MONTH_MS) / (last - first)) : count
}

interface Measured {
  readonly domain: string
  readonly costs: Costs
  readonly keys: number | null
  readonly monthly: number
}

type Way = Exclude<keyof Costs, 'span'>
const NAMES: { readonly [Name in Way]: string } = {
  source: 'one transaction per event',
  trickle: 'ours, one event at a time',
  arrived: 'ours, batched as they came',
  rebuild: 'a rebuild of everything',
}

const tell = ({ output }: Context, options: CostOptions, { domain, costs, keys, monthly }: Measured): void => {
  const prices = { writePrice: options.writePrice, readPrice: options.readPrice }
  if (options.json === true) return output.line(JSON.stringify({ domain, keys, eventsPerMonth: monthly, ...prices, ...costs }))
  const { events } = costs.source
  output.line(output.bold(`${domain}: ${counted(events, 'event')}${keys === null ? '' : ` of ${counted(keys, 'key')}`}`))
  const per = (amount: number): string => (events === 0 ? '-' : (amount / events).toFixed(2))
  const rows = (Object.keys(NAMES) as Way[]).map((way) => {
    const { domain: own, bookkeeping, readUnits, requests } = costs[way]
    const ratio = costs.source.domain === 0 ? '-' : (own / costs.source.domain).toFixed(2)
    return [NAMES[way], per(own), ratio, per(bookkeeping), per(readUnits), per(requests), way === 'rebuild' ? `$${priceOf(costs[way], prices).toFixed(4)} once` : `$${monthlyBill(costs[way], monthly, prices).toFixed(2)}`]
  })
  const numbers = ['writes', 'ratio', 'upkeep', 'reads', 'requests', 'a month']
  output.line(output.table([['per event', ...numbers], ...rows], { right: numbers }))
  output.note(`Writes and reads are units of DynamoDB. Upkeep: write units of our own bookkeeping. A month has ${counted(monthly, 'event')}.`)
  output.note(`Prices a million: $${options.writePrice} written, $${options.readPrice} read (on demand; --write-price, --read-price). Storage, streams and backups are not in it.`)
}

interface Prices {
  /** Dollars a million units. */
  readonly writePrice: number
  readonly readPrice: number
}

const priceOf = ({ domain, bookkeeping, readUnits }: Cost, { writePrice, readPrice }: Prices): number =>
  ((domain + bookkeeping) * writePrice + readUnits * readPrice) / 1e6

const monthlyBill = (cost: Cost, monthly: number, prices: Prices): number => (cost.events === 0 ? 0 : (priceOf(cost, prices) / cost.events) * monthly)
