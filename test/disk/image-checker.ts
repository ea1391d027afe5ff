// A child process of power-loss.test.ts: each time it receives a folder and acknowledgements, it returns the acknowledged writes that are not in
// the folder. LMDB can abort the process if a file is damaged, so the test does not open the files itself.
import type { Ack } from './acknowledgements.ts'
import { findLostWrites } from './lost-writes.ts'

process.on('message', ({ folder, acks }: { readonly folder: string; readonly acks: readonly Ack[] }) => {
  void findLostWrites(folder, acks).then((found) => process.send?.(found))
})
