import { spawnSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Available } from '../services/available.ts'

/** Checks that this machine can compile the disk observer (observer.c), which records all writes of a process to the disk. */
export const gccAvailable = (): Available => {
  if (process.platform !== 'linux') return { ok: false, how: 'the disk observer needs Linux (LD_PRELOAD)' }
  if (spawnSync('gcc', ['--version'], { stdio: 'ignore' }).status === 0) return { ok: true }
  return { ok: false, how: 'the disk observer is compiled with gcc. Debian: apt-get install gcc libc6-dev' }
}

export interface Observer {
  /** The compiled library, for LD_PRELOAD. */
  readonly library: string
}

/** Compiles observer.c into a temporary folder. */
export const compileObserver = (): Observer => {
  const library = join(mkdtempSync(join(tmpdir(), 'tributary-observer-')), 'observer.so')
  const { status, stderr } = spawnSync(
    'gcc',
    [
      '-shared',
      '-fPIC',
      '-O1',
      '-Wall',
      '-Wextra',
      '-Werror',
      '-o',
      library,
      join(import.meta.dirname, 'observer.c'),
      '-ldl',
      '-lpthread',
    ],
    { encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`gcc did not compile the disk observer: ${stderr}`)
  return { library }
}
