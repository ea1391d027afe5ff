import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, expect, test } from 'vitest'
import { stravaLocal } from '../../../../domains/activities/strava-local/service.ts'

const ROOT = join(import.meta.dirname, '../../../..')
const SCRIPT = `
const { stravaLocal } = await import(${JSON.stringify(join(ROOT, 'domains/activities/strava-local/service.ts'))})
const { url, variables } = await stravaLocal.start({ port: 0 })
console.log(JSON.stringify({ url, variables }))`

let child: ChildProcess | undefined
afterEach(() => {
  child?.kill('SIGKILL')
})

test('the service runs as a process of its own', async () => {
  const started = spawn(
    process.execPath,
    ['--import', join(ROOT, 'test/from-source.mjs'), '--input-type=module', '-e', SCRIPT],
    { stdio: ['ignore', 'pipe', 'inherit'], cwd: ROOT },
  )
  child = started
  const [line]: unknown[] = await once(createInterface(started.stdout), 'line')
  const { url, variables } = JSON.parse(String(line)) as { url: string; variables: Record<string, string> }
  expect(variables['TRIBUTARY_STRAVA_API']).toBe(`${url}/api/v3`)
  const refused = await fetch(`${url}/api/v3/athlete`)
  expect(refused.status).toBe(401)
})

test('a port that is in use is an error', async () => {
  const first = await stravaLocal.start({ port: 0 })
  try {
    await expect(stravaLocal.start({ port: Number(new URL(first.url).port) })).rejects.toThrow('EADDRINUSE')
  } finally {
    await first.stop()
  }
})
