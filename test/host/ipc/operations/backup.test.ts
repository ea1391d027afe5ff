import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readConfig } from '../../../../host/config/config.ts'
import { createPerform } from '../../../../host/ipc/handlers.ts'
import { noOutput } from '../../../../host/ipc/operations.ts'
import { openRuntime, type Runtime } from '../../../../host/wiring/runtime.ts'
import { KEY_FILE } from '../../../../host/wiring/sealing.ts'
import { openKeyFileStore } from '../../../../processors/adapters/key-file/store.ts'

const opened = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-'))
  const runtime = await openRuntime({ config: readConfig({ TRIBUTARY_DATA: join(folder, 'data') }) })
  onTestFinished(async () => {
    await runtime.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const [copy, keys] = [join(folder, 'copy'), join(folder, 'keys')]
  for (const each of [copy, keys]) mkdirSync(each)
  return { runtime, copy, keys }
}

/** Writes a backup, and runs `work` while the log is copied. */
const backUpDuring = async (
  { runtime, copy, keys }: { runtime: Runtime; copy: string; keys: string },
  work: () => Promise<unknown>,
): Promise<void> => {
  const { logs } = runtime.adapters
  const copying = async (folder: string) => {
    await work()
    await logs.copy?.(folder)
  }
  const during = { ...runtime, adapters: { ...runtime.adapters, logs: { ...logs, copy: copying } } }
  await createPerform(during)('backup', { folder: copy, keys }, noOutput())
}

test('a secret that is replaced during a backup does not disturb it, and the backup has the new version', async () => {
  const parts = await opened()
  const { secrets } = parts.runtime.keys.store
  await secrets.write('ann', 'token', { expect: 0, value: 'first' })
  await backUpDuring(parts, () => secrets.write('ann', 'token', { expect: 1, value: 'second' }))
  const copied = await openKeyFileStore({ path: join(parts.keys, KEY_FILE), mode: 'read' })
  expect(await copied.secrets.read('ann', 'token')).toEqual({ version: 2, value: 'second' })
  await copied.close()
})

test('a person who is forgotten during a backup disturbs it', async () => {
  const parts = await opened()
  const { store } = parts.runtime.keys
  await store.ensureKeys(new Map([['ann', []]]))
  await expect(backUpDuring(parts, () => store.step('ann', 'destroyed'))).rejects.toMatchObject({
    code: 'backup-disturbed',
  })
})
