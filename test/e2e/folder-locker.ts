// A child process of lock.test.ts: for each line on stdin it tries to lock the folder, and prints the outcome. Ends when it is killed.
import { createInterface } from 'node:readline'
import { lockFolder } from '../../host/folder/folder.ts'
import { isFault } from '../../schemas/fault.ts'

const [folder = ''] = process.argv.slice(2)
createInterface({ input: process.stdin }).on('line', () => {
  void lockFolder(folder)
    .then(
      () => 'held',
      (error: unknown) => (isFault(error) ? error.code : String(error)),
    )
    .then(console.log)
})
