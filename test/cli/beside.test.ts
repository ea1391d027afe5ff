import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openBeside } from '../../cli/beside.ts'
import { readConfig } from '../../cli/config.ts'
import { createPerform } from '../../cli/operations.ts'
import { openRuntime } from '../../cli/runtime.ts'
import { serveSocket } from '../../cli/socket.ts'
import type { Perform } from '../../cli/socket.ts'
import { meals } from '../../processors/meals/domain.ts'
import { Fault } from '../../schemas/fault.ts'

/** A process that holds a data folder and answers its socket by `wrap`. */
const startHolder = async (wrap: (perform: Perform) => Perform) => {
  const data = mkdtempSync(join(tmpdir(), 'tributary-beside-'))
  const config = readConfig({ TRIBUTARY_DATA: data })
  const runtime = await openRuntime({ config })
  onTestFinished(async () => {
    await runtime.close()
    rmSync(data, { recursive: true, force: true })
  })
  if (runtime.held !== undefined) serveSocket(runtime.held, wrap(createPerform(runtime)))
  return { config, runtime }
}

test('a command opens the log of a running server only while the server keeps it quiet', { timeout: 30_000 }, async () => {
  const asked: string[] = []
  const { config, runtime } = await startHolder((perform) => (name, args, says) => {
    asked.push(name)
    return perform(name, args, says)
  })
  const workplace = await openBeside(config, meals)
  onTestFinished(() => workplace.close())
  expect(asked[0]).toBe('log-quiet')
  // The command has hung up, so the log takes appends again.
  const [position] = await runtime.pipeline('meals').log.append([{ key: 'ann', value: Buffer.from('x') }])
  expect(await workplace.log.watermarks()).toEqual([{ partition: 0, low: 0, high: (position?.offset ?? 0) + 1 }])
})

test('a command works next to a server of an earlier release, which cannot keep the log quiet', { timeout: 30_000 }, async () => {
  const { config } = await startHolder((perform) => (name, args, says) => {
    if (name === 'log-quiet') throw new Fault('operation-unknown', 'The running server knows no "log-quiet".')
    return perform(name, args, says)
  })
  const workplace = await openBeside(config, meals)
  onTestFinished(() => workplace.close())
  expect(await workplace.log.watermarks()).toEqual([{ partition: 0, low: 0, high: 0 }])
})
