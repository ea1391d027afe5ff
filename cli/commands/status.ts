import { systemClock } from '../../processors/adapters/system-clock.ts'
import type { Context } from '../context.ts'
import { count } from '../../host/serving/meter.ts'
import { EXIT } from '../output.ts'
import type { Exit, Output } from '../output.ts'
import { callOperation } from '../../host/ipc/call-operation.ts'
import { completeStatusRows, trimmedTexts, unfollowed, waitingAskTexts } from '../../host/serving/domain-status.ts'
import type { StatusRow } from '../../host/serving/domain-status.ts'

const WATCH_MS = 2_000

export const status = async (context: Context, options: { watch?: true; json?: true }): Promise<Exit> => {
  let last: readonly StatusRow[] = []
  do {
    last = completeStatusRows(await callOperation(context, { name: 'status', args: {} }))
    if (context.signal.aborted) return EXIT.interrupted
    if (options.json === true) context.output.line(last.map((each) => JSON.stringify(each)).join('\n'))
    else context.output[options.watch === true ? 'redraw' : 'line'](table(context.output, last))
    if (options.watch === true) await systemClock.sleep(WATCH_MS, context.signal)
  } while (options.watch === true && !context.signal.aborted)
  if (context.signal.aborted) return EXIT.interrupted
  if (last.some(({ followed, trimmed }) => followed === false || trimmed.length > 0)) return EXIT.failed
  return last.some(({ parked }) => parked > 0) ? EXIT.parked : EXIT.fine
}

const table = (output: Output, statuses: readonly StatusRow[]): string =>
  [
    columnsOf(output, statuses),
    ...trimmedTexts(statuses),
    ...waitingAskTexts(statuses),
    ...statuses
      .filter(({ followed }) => followed === false)
      .map(({ domain, generation }) => unfollowed(domain, generation)),
  ].join('\n')

const NUMBERS = ['events', 'lag', 'lag s', 'parked', 'waiting', 'events/s', 'WU/event']

const columnsOf = (output: Output, statuses: readonly StatusRow[]): string =>
  output.table(
    [
      ['domain', 'gen', ...NUMBERS],
      ...statuses.map((each) => [
        each.domain,
        `g${each.generation}`,
        count(each.events),
        count(each.lagEvents),
        each.lagSeconds.toFixed(1),
        each.parked === 0 ? '0' : output.red(count(each.parked)),
        count(each.waiting),
        each.eventsPerSecond === null ? '-' : each.eventsPerSecond.toFixed(1),
        each.writeUnitsPerEvent === null ? '-' : each.writeUnitsPerEvent.toFixed(2),
      ]),
    ],
    { right: NUMBERS },
  )
