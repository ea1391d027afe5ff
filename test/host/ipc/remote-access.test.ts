import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openRemoteAccess } from '../../../host/ipc/remote-access.ts'
import { readConfig } from '../../../host/config/config.ts'
import { createPerform } from '../../../host/ipc/handlers.ts'
import { openRuntime } from '../../../host/wiring/runtime.ts'
import { serveSocket } from '../../../host/ipc/socket.ts'
import type { Perform } from '../../../host/ipc/operations.ts'
import { answerRequests } from '../../../host/ipc/requests.ts'
import { meals } from '../../../processors/meals/domain.ts'
import { Fault } from '../../../schemas/fault.ts'

/** Opens a new data folder, and answers requests on its socket with the operations that `wrap` returns. */
const startServer = async (wrap: (perform: Perform) => Perform) => {
  const data = mkdtempSync(join(tmpdir(), 'tributary-remote-'))
  const config = readConfig({ TRIBUTARY_DATA: data })
  const runtime = await openRuntime({ config })
  onTestFinished(async () => {
    await runtime.close()
    rmSync(data, { recursive: true, force: true })
  })
  if (runtime.folderLock !== undefined) serveSocket(runtime.folderLock, answerRequests(wrap(createPerform(runtime))))
  return { config, runtime }
}

test(
  'a command opens the log of a running server only while the server keeps it quiet',
  { timeout: 30_000 },
  async () => {
    const requests: string[] = []
    const { config, runtime } = await startServer((perform) => (name, args, output) => {
      requests.push(name)
      return perform(name, args, output)
    })
    const access = await openRemoteAccess(config, meals)
    onTestFinished(() => access.close())
    expect(requests[0]).toBe('log-quiet')
    // The command has closed its connection, so the log accepts appends again.
    const [position] = await runtime.pipeline('meals').log.append([{ key: 'ann', value: Buffer.from('x') }])
    expect(await access.log.watermarks()).toEqual([{ partition: 0, low: 0, high: (position?.offset ?? 0) + 1 }])
  },
)

test(
  'a command works next to a server of an earlier release, which cannot keep the log quiet',
  { timeout: 30_000 },
  async () => {
    const { config } = await startServer((perform) => (name, args, output) => {
      if (name === 'log-quiet') throw new Fault('operation-unknown', 'The running server has no operation "log-quiet".')
      return perform(name, args, output)
    })
    const access = await openRemoteAccess(config, meals)
    onTestFinished(() => access.close())
    expect(await access.log.watermarks()).toEqual([{ partition: 0, low: 0, high: 0 }])
  },
)
