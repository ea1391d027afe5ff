import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readConfig } from '../../../../host/config/config.ts'
import { noOutput } from '../../../../host/ipc/operations.ts'
import { forgetPerson } from '../../../../host/ipc/operations/forget.ts'
import { openRuntime } from '../../../../host/wiring/runtime.ts'

test('a forgotten person has no session any more, and other people keep theirs', async () => {
  const data = mkdtempSync(join(tmpdir(), 'tributary-'))
  onTestFinished(() => rmSync(data, { recursive: true, force: true }))
  const runtime = await openRuntime({ config: readConfig({ TRIBUTARY_DATA: data }) })
  onTestFinished(() => runtime.close())
  const openedAt = Date.now()
  const session = { token: null, email: null, openedAt, expiresAt: openedAt + 3_600_000 }
  await runtime.sessions.open('s1', { ...session, user: 'ann' })
  await runtime.sessions.open('s2', { ...session, user: 'bob' })
  await forgetPerson(runtime, { subject: 'ann' }, noOutput())
  expect(await runtime.sessions.find('s1')).toBeUndefined()
  expect(await runtime.sessions.find('s2')).toMatchObject({ user: 'bob' })
})
