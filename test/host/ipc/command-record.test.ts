import { Command } from 'commander'
import { expect, test } from 'vitest'
import { createRecorder, type EndedCommand } from '../../../host/ipc/command-record.ts'

/** Simulates a command that opens the stores once per entry of `outcomes`. Returns the outcomes of the records that it stores for a server to log. */
const leftBy = async (
  name: string,
  { outcomes, onlyChanges }: { outcomes: readonly string[]; onlyChanges: boolean },
): Promise<readonly string[]> => {
  const recorder = createRecorder(new Command('tributary').command(name))
  const left: EndedCommand[] = []
  const records = {
    put: (ended: EndedCommand) => Promise.resolve(void left.push(ended)),
    take: () => Promise.resolve([]),
  }
  for (const outcome of outcomes) await recorder.leave(records, outcome, onlyChanges)
  return left.map(({ outcome }) => outcome)
}

test('a command leaves one record, however often it opens the stores: status --watch does so at every redraw', async () => {
  expect(await leftBy('status', { outcomes: ['done', 'done', 'store-unavailable'], onlyChanges: false })).toEqual([
    'done',
  ])
})

test('a command that only reads leaves no record in a data folder without a server', async () => {
  expect(await leftBy('status', { outcomes: ['done'], onlyChanges: true })).toEqual([])
  expect(await leftBy('append', { outcomes: ['done'], onlyChanges: true })).toEqual(['done'])
})
