import { closeSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** The environment variable with the folder that lists the services of this run. global.ts sets the variable, and stops the services at the end. */
export const SERVICES_FOLDER = 'TRIBUTARY_TEST_SERVICES'

interface Started<State> {
  state: State
  pids: number[]
}
interface StartOptions {
  detached: boolean
  under?: string
}

const WAIT_MS = 120_000

/**
 * Starts a service once for all test files of a run. The first caller starts the service. The other callers read its state from a file. Outside of
 * a run (without SERVICES_FOLDER), starts a service for the calling process, which ends with this process.
 */
export async function shared<State>(
  name: string,
  start: (options: StartOptions) => Promise<Started<State>>,
): Promise<State> {
  const folder = process.env[SERVICES_FOLDER]
  if (!folder) return (await start({ detached: false })).state
  const file = join(folder, `${name}.json`)
  if (!tryClaim(join(folder, `${name}.lock`))) return waitFor<State>(file)
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
 * Leases a service that only one test file uses at a time. `release` makes the service available for the next test file. Starts another service if
 * all are leased. Outside of a run, starts a service for the caller.
 */
export async function leased<State>(
  name: string,
  start: (options: StartOptions) => Promise<Started<State>>,
): Promise<{ state: State; release(): void }> {
  const folder = process.env[SERVICES_FOLDER]
  if (!folder) return { state: await shared(name, start), release: () => undefined }
  let number = 1
  while (!tryClaim(join(folder, `${name}-${number}.lease`))) number += 1
  return {
    state: await shared(`${name}-${number}`, start),
    release: () => rmSync(join(folder, `${name}-${number}.lease`)),
  }
}

/** Returns the answer of a probe, which runs once for all test files of a run. Two files that call this at the same moment can both run the probe. */
export function probedOnce<Answer extends string | boolean>(
  name: string,
  probe: () => Answer | undefined,
): Answer | undefined {
  const folder = process.env[SERVICES_FOLDER]
  if (!folder) return probe()
  const file = join(folder, `${name}.probe`)
  const stored = read(file)
  if (stored !== undefined) return (JSON.parse(stored) as { answer?: Answer }).answer
  const answer = probe()
  publish(file, { answer })
  return answer
}

function tryClaim(lock: string): boolean {
  try {
    closeSync(openSync(lock, 'wx'))
    return true
  } catch {
    return false
  }
}

function publish(file: string, content: object): void {
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, JSON.stringify(content))
  renameSync(draft, file)
}

async function waitFor<State>(file: string): Promise<State> {
  for (const deadline = Date.now() + WAIT_MS; Date.now() < deadline; await sleep(50)) {
    const content = read(file)
    if (content === undefined) continue
    const found = JSON.parse(content) as { state: State; failed?: string }
    if (found.failed !== undefined) throw new Error(`the shared service did not start: ${found.failed}`)
    return found.state
  }
  throw new Error(`the shared service of ${file} did not start within ${WAIT_MS} ms`)
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
