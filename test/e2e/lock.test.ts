import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connectToServer, lockFolder, prepareFolder } from '../../host/folder/folder.ts'
import { listenIn } from '../../host/ipc/unix-socket.ts'
import { takeFileLock } from '../../processors/adapters/duckdb/lock.ts'
import { freshFolder } from './program.ts'

const code = (of: string) => expect.objectContaining({ code: of })
const fromSource = join(import.meta.dirname, '../from-source.mjs')

interface Locker {
  /** Lets the process try to lock the folder. Resolves to `held` or the code of the fault. */
  tryLock(): Promise<string>
  kill(): Promise<void>
}

/** Starts folder-locker.ts, a process with its own temporary folder. */
const startLocker = (folder: string): Locker => {
  const child = spawn(
    process.execPath,
    ['--import', fromSource, join(import.meta.dirname, 'folder-locker.ts'), folder],
    { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, TMPDIR: freshFolder() } },
  )
  const exited = once(child, 'exit')
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })
  return {
    tryLock: async () => {
      const answer = once(lines, 'line')
      child.stdin.write('hold\n')
      return ((await answer) as [string])[0]
    },
    kill: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
}

describe('the folder lock', { timeout: 60_000 }, () => {
  test('has one owner for a path of more than 200 characters, also if the processes have different temporary folders', async () => {
    const folder = join(freshFolder(), 'x'.repeat(120), 'y'.repeat(120))
    const [first, second] = [startLocker(folder), startLocker(folder)]
    expect(await first.tryLock()).toBe('held')
    expect(await second.tryLock()).toBe('data-folder-in-use')
    await expect(lockFolder(folder)).rejects.toThrow(code('data-folder-in-use'))
    const socket = await connectToServer(folder)
    expect(socket).toBeDefined()
    socket?.destroy()
    await first.kill()
    expect(await connectToServer(folder)).toBeUndefined()
    const lock = await lockFolder(folder)
    await lock.release()
  })

  test('counts the bytes of a path, not its characters', async () => {
    const folder = join(freshFolder(), 'ž'.repeat(60))
    const lock = await lockFolder(folder)
    const socket = await connectToServer(folder)
    expect(socket).toBeDefined()
    socket?.destroy()
    await lock.release()
  })

  test('has one owner when several processes try at once after the owner was killed', async () => {
    const folder = freshFolder()
    let waiting = Array.from({ length: 6 }, () => startLocker(folder))
    while (waiting.length >= 3) {
      const outcomes = await Promise.all(waiting.map((locker) => locker.tryLock()))
      expect(outcomes.filter((outcome) => outcome !== 'data-folder-in-use')).toEqual(['held'])
      await waiting[outcomes.indexOf('held')]?.kill()
      waiting = waiting.filter((_, index) => outcomes[index] !== 'held')
    }
  })

  test('is not taken from an owner that lost its socket', async () => {
    const folder = freshFolder()
    const owner = startLocker(folder)
    expect(await owner.tryLock()).toBe('held')
    rmSync(join(folder, 'tributary.sock'))
    await expect(lockFolder(folder)).rejects.toThrow(code('data-folder-in-use'))
    await expect(connectToServer(folder)).rejects.toThrow(code('data-folder-in-use'))
    await owner.kill()
    expect(await connectToServer(folder)).toBeUndefined()
  })

  test('an owner that does not listen yet is waited for, and keeps the lock', async () => {
    const folder = freshFolder()
    prepareFolder(folder)
    const lock = await takeFileLock(join(folder, 'locks', 'folder'))
    const calling = connectToServer(folder)
    const { close } = await listenIn(folder, 'tributary.sock')
    const socket = await calling
    expect(socket).toBeDefined()
    socket?.destroy()
    await close()
    lock?.release()
    expect(await connectToServer(folder)).toBeUndefined()
  })

  test('one process takes a lock once, by any path, and again after it has released it', async () => {
    const folder = freshFolder()
    const path = join(folder, 'locks', 'folder')
    const taken = (await Promise.all(Array.from({ length: 5 }, () => takeFileLock(path)))).filter(
      (lock) => lock !== undefined,
    )
    expect(taken).toHaveLength(1)
    expect(await takeFileLock(join(folder, '.', 'locks', '..', 'locks', 'folder'))).toBeUndefined()
    taken[0]?.release()
    const again = await takeFileLock(path)
    expect(again).toBeDefined()
    // A second release by the earlier owner must not release the lock of the new owner.
    taken[0]?.release()
    expect(await takeFileLock(path)).toBeUndefined()
    again?.release()
  })

  test('a damaged lock file is reported, and does not count as free', async () => {
    const folder = freshFolder()
    mkdirSync(join(folder, 'locks'))
    writeFileSync(join(folder, 'locks', 'folder'), 'half')
    await expect(takeFileLock(join(folder, 'locks', 'folder'))).rejects.toThrow(code('data-folder-unusable'))
  })
})

describe('the permissions of the folder', () => {
  test('are restricted to its owner, also for an existing folder, and this is reported once', async () => {
    const folder = join(freshFolder(), 'data')
    mkdirSync(folder)
    chmodSync(folder, 0o755)
    const notes: string[] = []
    for (let start = 0; start < 2; start += 1) {
      const lock = await lockFolder(folder, (line) => notes.push(line))
      expect(statSync(folder).mode & 0o777).toBe(0o700)
      expect(statSync(join(folder, 'tributary.sock')).mode & 0o777).toBe(0o600)
      await lock.release()
    }
    expect(notes).toEqual([expect.stringContaining('mode 755')])
  })

  test.skipIf(process.platform !== 'linux')(
    'a folder of an earlier format is not upgraded while another process has its log open',
    async () => {
      const folder = freshFolder()
      writeFileSync(join(folder, 'tributary.json'), '{"format":1}\n')
      const writer = spawn(
        process.execPath,
        [
          '--input-type=module',
          '-e',
          'import { open } from "lmdb"; open(process.argv[1], {}); console.log("open"); process.stdin.resume()',
          join(folder, 'log'),
        ],
        { stdio: ['pipe', 'pipe', 'inherit'], cwd: join(import.meta.dirname, '..', '..') },
      )
      onTestFinished(() => void writer.kill('SIGKILL'))
      await once(writer.stdout, 'data')
      await expect(lockFolder(folder)).rejects.toThrow(code('data-folder-in-use'))
      expect(readFileSync(join(folder, 'tributary.json'), 'utf8')).toBe('{"format":1}\n')
      const ended = once(writer, 'exit')
      writer.kill('SIGKILL')
      await ended
      await (await lockFolder(folder)).release()
    },
  )

  test('a folder of an earlier format is upgraded in place, and this is reported once', async () => {
    const folder = freshFolder()
    writeFileSync(join(folder, 'tributary.json'), '{"format":1}\n')
    const notes: string[] = []
    for (let start = 0; start < 2; start += 1) await (await lockFolder(folder, (line) => notes.push(line))).release()
    expect(notes).toEqual([expect.stringContaining('from format 1 to 2')])
    expect(readFileSync(join(folder, 'tributary.json'), 'utf8')).toBe('{"format":2}\n')
  })
})
