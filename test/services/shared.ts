import { closeSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** Where the services of this run are listed; set by global.ts, which also stops them. */
export const SERVICES_FOLDER = 'TRIBUTARY_TEST_SERVICES'

interface Started<State> { state: State; pids: number[] }
interface How { detached: boolean; under?: string }

const WAIT_MS = 120_000

/**
 * Starts a service once for all test files of a run: the first to ask starts it, the others read where it is.
 * Outside such a run the service belongs to the process that asked, and ends with it.
 */
export async function shared<State>(name: string, start: (how: How) => Promise<Started<State>>): Promise<State> {
  const folder = process.env[SERVICES_FOLDER]
  if (!folder) return (await start({ detached: false })).state
  const file = join(folder, `${name}.json`)
  if (!claimed(join(folder, `${name}.lock`))) return waitFor<State>(file)
  try {
    const { state, pids } = await start({ detached: true, under: folder })
    publish(file, { state, pids })
    return state
  } catch (error) {
    publish(file, { failed: String(error), pids: [] })
    throw error
  }
}

/**
 * A service that one test file after another has for itself: `release` gives it to the next one. There are as many as test files
 * that have one at the same time. Outside of a run it is started for the caller.
 */
export async function leased<State>(name: string, start: (how: How) => Promise<Started<State>>): Promise<{ state: State; release(): void }> {
  const folder = process.env[SERVICES_FOLDER]
  if (!folder) return { state: await shared(name, start), release: () => undefined }
  let number = 1
  while (!claimed(join(folder, `${name}-${number}.lease`))) number += 1
  return { state: await shared(`${name}-${number}`, start), release: () => rmSync(join(folder, `${name}-${number}.lease`)) }
}

/** The answer of a probe that is made once for all test files of a run. Two files that ask at the same moment may both probe. */
export function probedOnce<Answer extends string | boolean>(name: string, probe: () => Answer | undefined): Answer | undefined {
  const folder = process.env[SERVICES_FOLDER]
  if (!folder) return probe()
  const file = join(folder, `${name}.probe`)
  const known = read(file)
  if (known !== undefined) return (JSON.parse(known) as { answer?: Answer }).answer
  const answer = probe()
  publish(file, { answer })
  return answer
}

function claimed(lock: string): boolean {
  try {
    closeSync(openSync(lock, 'wx'))
    return true
  } catch {
    return false
  }
}

function publish(file: string, content: object): void {
  const aside = `${file}.${process.pid}`
  writeFileSync(aside, JSON.stringify(content))
  renameSync(aside, file)
}

async function waitFor<State>(file: string): Promise<State> {
  for (const deadline = Date.now() + WAIT_MS; Date.now() < deadline; await sleep(50)) {
    const content = read(file)
    if (content === undefined) continue
    const found = JSON.parse(content) as { state: State; failed?: string }
    if (found.failed !== undefined) throw new Error(`the shared service did not start: ${found.failed}`)
    return found.state
  }
  throw new Error(`nobody started the shared service of ${file} within ${WAIT_MS} ms`)
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
