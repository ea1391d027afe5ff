import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { guardRunner } from '../../../../processors/adapters/kafka/runner-guard.ts'

const LIMIT_MS = 60_000
const script = join(import.meta.dirname, 'stopped-runner.mjs')
const fromSource = join(import.meta.dirname, '../../../from-source.mjs')

/** Runs stopped-runner.mjs in its own process, and returns its output. In an endless loop no timer runs, so the test could not end it here. */
const outcomeOf = async (mode: 'guarded' | 'plain'): Promise<string> =>
  (
    await promisify(execFile)(process.execPath, ['--import', fromSource, script, mode], {
      timeout: LIMIT_MS,
      killSignal: 'SIGKILL',
    })
  ).stdout

describe('a consumer of kafkajs that is stopped while it rebuilds its fetchers', () => {
  test('ends with the guard', async () => expect(await outcomeOf('guarded')).toBe('ended'), LIMIT_MS * 2)

  test(
    'spins without it, so the guard is still needed',
    async () => expect(await outcomeOf('plain')).toBe('spins'),
    LIMIT_MS * 2,
  )
})

test.each([
  ['another version', { version: '2.2.5' }, undefined, 'its version is 2.2.5'],
  [
    'a changed Runner.fetch',
    { version: '2.2.4' },
    {
      prototype: {
        async fetch() {
          return []
        },
      },
    },
    'Runner.fetch in src/consumer/runner.js has other code',
  ],
  ['no Runner.fetch', { version: '2.2.4' }, { prototype: {} }, 'Runner.fetch in src/consumer/runner.js has other code'],
])('the guard refuses a kafkajs with %s', (_, manifest, runner, difference) => {
  const require = (id: string): unknown => (id === 'kafkajs/package.json' ? manifest : runner)
  expect(() => guardRunner(require)).toThrow(difference)
})

test('the guard is set once, also by a second copy of its module', () => {
  const runner = {
    prototype: {
      async fetch(nodeId: number) {
        return [nodeId]
      },
    },
  }
  runner.prototype.fetch.toString = () => 'async fetch(nodeId) { if (!this.running) { this.log({}) return [] } }'
  const require = (id: string): unknown => (id === 'kafkajs/package.json' ? { version: '2.2.4' } : runner)
  guardRunner(require)
  const guarded = runner.prototype.fetch
  guardRunner(require)
  expect(runner.prototype.fetch).toBe(guarded)
})
