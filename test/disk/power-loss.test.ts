import { fork, spawnSync, type ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { DISK_BUGS } from '../planted/disk.ts'
import { describeWith } from '../services/available.ts'
import { isLong } from '../../testing/property-runs.ts'
import { createRandom } from '../../simulation/random.ts'
import { compileObserver, gccAvailable, type Observer } from './observer.ts'
import { createDisk } from './power-loss.ts'
import { folderOf, type Ack } from './acknowledgements.ts'
import { readTrace, type Step } from './trace.ts'

const FROM_SOURCE = join(import.meta.dirname, '..', 'from-source.mjs')
/** The maximum number of runs with a mistake that the test puts into the sources. The test fails if no run finds the mistake. */
const MAX_RUNS = 10
const ROUNDS = 30
const SEEDS = isLong ? [1, 2, 3] : [1]
/** The file of LMDB's table of readers. It may be lost, because LMDB creates it again after a power loss. */
const EPHEMERAL = 'lock.mdb'
/** A folder in memory if the machine has one, because the test needs no real disk: the observer records the writes. */
const SCRATCH = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

interface Observed {
  readonly folder: string
  readonly root: string
  readonly steps: readonly Step[]
}

describeWith('a power loss', gccAvailable(), () => {
  let observer: Observer
  beforeAll(() => {
    observer = compileObserver()
  })
  afterAll(() => rmSync(join(observer.library, '..'), { recursive: true, force: true }))

  /** Runs writer.ts while the observer records its writes. `bug` is a mistake to put into the sources first. Default: no mistake. */
  const observe = (seed: number, bug?: object): Observed => {
    const folder = mkdtempSync(join(SCRATCH, 'tributary-disk-'))
    const root = join(folder, 'data')
    mkdirSync(root, { mode: 0o700 })
    const env = {
      ...process.env,
      LD_PRELOAD: observer.library,
      DISK_ROOT: root,
      DISK_TRACE: join(folder, 'trace'),
      DISK_ACKS: join(folder, 'acks'),
      // Disables io_uring, because its writes bypass the C library and therefore the observer.
      UV_USE_IO_URING: '0',
      PLANTED: JSON.stringify(bug ?? null),
    }
    const { status, stderr } = spawnSync(
      process.execPath,
      ['--import', FROM_SOURCE, join(import.meta.dirname, 'writer.ts'), root, String(seed), String(ROUNDS)],
      { env, encoding: 'utf8' },
    )
    expect(status, stderr).toBe(0)
    return { folder, root, steps: readTrace(readFileSync(join(folder, 'trace'))) }
  }
  const remove = ({ folder }: Observed): void => rmSync(folder, { recursive: true, force: true })

  describe('of a program without mistakes', () => {
    let observed: readonly Observed[]
    beforeAll(() => {
      observed = SEEDS.map((seed) => observe(seed))
    })
    afterAll(() => observed.forEach(remove))

    test('does not lose an acknowledged write', { timeout: 300_000 }, async () => {
      const losses = []
      for (const [index, run] of observed.entries()) losses.push(await afterPowerLoss(run, index))
      expect(losses.flatMap(({ found }) => found)).toEqual([])
      for (const { images } of losses) expect(images).toBeGreaterThan(90)
    })

    test('happens after every acknowledged byte was synced', () => {
      expect(observed.flatMap(unsyncedAtAck)).toEqual([])
      for (const { steps } of observed) expect(acksOf(steps).length).toBeGreaterThan(60)
    })

    test('is observed completely: only lock files are written through mapped memory', () => {
      for (const { steps } of observed) {
        const names = new Map(steps.flatMap((step) => (step.kind === 'open' ? [[step.inode, step.path] as const] : [])))
        const hidden = steps.flatMap((step) =>
          step.kind === 'unobserved' ? [`${step.call} ${names.get(step.inode)?.split('/').at(-1) ?? ''}`] : [],
        )
        expect(new Set(hidden)).toEqual(new Set([`mmap ${EPHEMERAL}`]))
        expect(steps.filter(({ kind }) => kind === 'write').length).toBeGreaterThan(100)
      }
    })
  })

  test.for(Object.keys(DISK_BUGS))('the test fails when %s', { timeout: 120_000 }, async (name) => {
    const { finds, ...bug } = DISK_BUGS[name] ?? expect.unreachable()
    const found: string[] = []
    // Some mistakes show only if the process is interrupted at that moment, so several runs can be necessary.
    for (let seed = 1; seed <= MAX_RUNS && !found.some((line) => finds.test(line)); seed += 1) {
      const observed = observe(seed, bug)
      onTestFinished(() => remove(observed))
      const lost = await afterPowerLoss(observed, seed, (line) => finds.test(line))
      found.push(...unsyncedAtAck(observed), ...lost.found)
    }
    expect(
      found.filter((line) => finds.test(line)),
      found.join('\n'),
    ).not.toEqual([])
  })
})

const acksOf = (steps: readonly Step[]): readonly Ack[] =>
  steps.flatMap((step) => (step.kind === 'ack' ? [JSON.parse(step.text) as Ack] : []))

/** Returns a line per acknowledgement at which a file of the write had unsynced bytes. Checks only the part of the run with one write at a time. */
const unsyncedAtAck = ({ root, steps }: Observed): readonly string[] => {
  const disk = createDisk()
  const found: string[] = []
  for (const step of steps) {
    disk.apply(step)
    if (step.kind !== 'ack') continue
    const ack = JSON.parse(step.text) as Ack
    if (ack.what === 'together') return found
    const files = disk
      .unsynced()
      .map((path) => relative(root, path))
      .filter((path) => path.startsWith(folderOf(ack)) && !path.endsWith(EPHEMERAL))
    found.push(...files.map((path) => `${path} contains unsynced bytes when ${ack.what} is acknowledged`))
  }
  return expect.unreachable('the child did not finish')
}

/** Checks folders in a child process, because LMDB can abort the process that opens a damaged file. Then starts another child process. */
const createChecker = () => {
  let child: ChildProcess | undefined
  const start = (): ChildProcess =>
    fork(join(import.meta.dirname, 'image-checker.ts'), {
      execArgv: ['--import', FROM_SOURCE],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
  const check = (folder: string, acks: readonly Ack[]): Promise<readonly string[]> => {
    const running = (child ??= start())
    return new Promise((resolve) => {
      const onMessage = (found: unknown): void => {
        running.off('exit', onExit)
        resolve(found as readonly string[])
      }
      const onExit = (): void => {
        running.off('message', onMessage)
        child = undefined
        resolve(['cannot be opened: the process that opened the files crashed'])
      }
      running.once('message', onMessage).once('exit', onExit)
      running.send({ folder, acks })
    })
  }
  return { check, stop: () => void child?.kill() }
}

/** Simulates a power loss after each acknowledgement and at random moments, and checks the files that remain. `isEnough` can end this early. */
const afterPowerLoss = async (
  { root, steps }: Observed,
  seed: number,
  isEnough: (line: string) => boolean = () => false,
): Promise<{ found: readonly string[]; images: number }> => {
  const random = createRandom(seed)
  const checker = createChecker()
  onTestFinished(checker.stop)
  const disk = createDisk()
  const acks: Ack[] = []
  const found: string[] = []
  let images = 0
  for (const step of steps) {
    disk.apply(step)
    if (step.kind === 'ack') acks.push(JSON.parse(step.text) as Ack)
    if (step.kind !== 'ack' && !random.chance(0.02)) continue
    // The probability that an unsynced sector or name survives.
    const share = random.pick([0, 0, 0.5, 0.9])
    const into = mkdtempSync(join(SCRATCH, 'tributary-power-'))
    try {
      disk.restore(root, into, () => random.chance(share))
      found.push(...(await checker.check(into, acks)))
      images += 1
    } finally {
      rmSync(into, { recursive: true, force: true })
    }
    if (found.some(isEnough)) break
  }
  return { found, images }
}
