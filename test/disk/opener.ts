// A child process of opening.test.ts: each time it receives the path of a log, it opens the log for reading and closes it.
import { lmdbLogs } from '../../processors/adapters/lmdb/log.ts'

process.on('message', (folder: string) => {
  const logs = lmdbLogs({ folder, readOnly: true })
  void logs
    .open('events')
    .then(() => process.send?.('open'))
    .then(() => logs.close())
    .then(() => process.send?.('closed'))
})
process.send?.('started')
