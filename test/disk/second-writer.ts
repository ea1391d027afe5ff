// A child process of second-writer.test.ts: appends each text that it receives, and sends back the offset or the code of the fault.
import { lmdbLogs } from '../../processors/adapters/lmdb/log.ts'
import { isFault } from '../../schemas/fault.ts'

const [folder = ''] = process.argv.slice(2)
const log = await lmdbLogs({ folder }).open('events')
// Loads the end of the log, as a server does when it starts.
await log.watermarks()
process.on('message', (text) => {
  void log
    .append([{ key: 'k', value: Buffer.from(String(text)) }])
    .then(
      ([position]) => String(position?.offset),
      (error: unknown) => (isFault(error) ? error.code : String(error)),
    )
    .then((answer) => process.send?.(answer))
})
process.send?.('open')
