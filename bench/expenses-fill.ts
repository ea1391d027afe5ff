import { readConfig } from '../host/config/config.ts'
import { openRuntime } from '../host/wiring/runtime.ts'
import { appendAll } from './append.ts'
import { expenseEvents, groupEvents, journeyOf } from '../domains/expenses/benchmark-events.ts'
import { perSecond } from './table.ts'

const APPENDED = 1_000
const FOLDED_MS = 3_600_000

/** Writes a group with many expenses into a data folder. Appends their events to the log, sealed and without HTTP requests, and folds them. */
const [data = '', expenses = '0'] = process.argv.slice(2)
const journey = journeyOf(Number(expenses))
const runtime = await openRuntime({ config: readConfig({ TRIBUTARY_DATA: data }) })
const { log, codec, serving, start } = runtime.pipeline('expenses')
const began = performance.now()
const opening = groupEvents(journey)
await appendAll(log, codec, opening, APPENDED)
await appendAll(log, codec, expenseEvents(journey), APPENDED)
const count = opening.length + journey.expenses
await start('processor')
for (const { partition, high } of await log.watermarks())
  if (high > 0) await serving().outcomes.untilFolded({ partition, offset: high - 1 }, FOLDED_MS)
await runtime.close()
process.stderr.write(
  `  ${count.toLocaleString('en')} events appended and folded, ${perSecond(count, (performance.now() - began) / 1000)}/s\n`,
)
