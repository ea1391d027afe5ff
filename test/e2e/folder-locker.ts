// Run by lock.test.ts as a child process: tries to hold the folder for each line that it receives, and prints the outcome. Ends when it is killed.
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
