import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SERVICES_FOLDER } from './shared.ts'

/** Runs once before all test files: creates the folder that lists the shared services. The returned function stops these services after all tests. */
export default function servicesOfThisRun(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-services-'))
  process.env[SERVICES_FOLDER] = folder
  const stop = (): void => {
    for (const pid of pidsIn(folder)) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // The process has already ended.
      }
    }
    rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', stop)
  return () => {
    process.off('exit', stop)
    stop()
  }
}

function pidsIn(folder: string): number[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .flatMap((file) => (JSON.parse(readFileSync(join(folder, file), 'utf8')) as { pids: number[] }).pids)
}
