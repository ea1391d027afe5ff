import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { callHolder, holdFolder, prepareFolder, requireFolder } from '../../cli/folder.ts'
import { askOver, serveSocket, streamOver } from '../../cli/socket.ts'
import { Fault } from '../../schemas/fault.ts'

const socketPath = (folder: string): string => join(folder, 'tributary.sock')
const freshFolder = (): string => mkdtempSync(join(tmpdir(), 'tributary-'))
const code = (of: string) => expect.objectContaining({ code: of })
const quiet = () => ({ row: () => undefined, progress: () => undefined, signal: new AbortController().signal })

const askFolder = async (folder: string) => {
  const socket = await callHolder(folder)
  if (socket === undefined) throw new Error('nobody holds the folder')
  return askOver(socket)
}

describe('the data folder', () => {
  test('is made when it is missing', () => {
    const folder = join(freshFolder(), 'a', 'b')
    prepareFolder(folder)
    expect(existsSync(join(folder, 'tributary.json'))).toBe(true)
  })

  test('that is missing, empty or a file is told to who only looks, and not made', () => {
    const folder = freshFolder()
    writeFileSync(join(folder, 'file'), '')
    for (const wrong of [join(folder, 'missing'), folder, join(folder, 'file')]) expect(() => requireFolder(wrong)).toThrow(code('no-data-folder'))
    expect(readdirSync(folder)).toEqual(['file'])
  })

  test('that holds what is not ours is refused and left as it is; a fresh volume is taken', () => {
    const [foreign, volume] = [freshFolder(), freshFolder()]
    writeFileSync(join(foreign, 'thesis.txt'), '')
    expect(() => prepareFolder(foreign)).toThrow(code('data-folder-foreign'))
    expect(readdirSync(foreign)).toEqual(['thesis.txt'])
    mkdirSync(join(volume, 'lost+found'))
    prepareFolder(volume)
    expect(() => requireFolder(volume)).not.toThrow()
  })

  test('of a newer version is refused', () => {
    const folder = freshFolder()
    writeFileSync(join(folder, 'tributary.json'), '{"format":999}')
    expect(() => prepareFolder(folder)).toThrow(code('data-folder-newer'))
  })

  test('with a damaged marker is refused', () => {
    const folder = freshFolder()
    writeFileSync(join(folder, 'tributary.json'), '{"form')
    expect(() => prepareFolder(folder)).toThrow(code('data-folder-unusable'))
  })

  test('that is a file is refused', () => {
    const file = join(freshFolder(), 'file')
    writeFileSync(file, '')
    expect(() => prepareFolder(file)).toThrow(code('data-folder-unusable'))
  })

  test('that nobody may make is refused', () => expect(() => prepareFolder('/proc/tributary/data')).toThrow(code('data-folder-unusable')))

  test('has one holder at a time, and is free after it', async () => {
    const folder = freshFolder()
    const first = await holdFolder(folder)
    await expect(holdFolder(folder)).rejects.toThrow(code('data-folder-in-use'))
    await first.release()
    const second = await holdFolder(folder)
    await second.release()
    expect(await callHolder(folder)).toBeUndefined()
    expect(readdirSync(folder)).toEqual(['locks', 'tributary.json'])
  })

  test('of many who want it at once one gets it', async () => {
    const folder = freshFolder()
    const tries = await Promise.allSettled(Array.from({ length: 12 }, () => holdFolder(folder)))
    const held = tries.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    expect(held).toHaveLength(1)
    await held[0]?.release()
  })

  test('is not taken while a process of an earlier release, which only has the socket, holds it', async () => {
    const folder = freshFolder()
    const script = `import { createServer } from 'node:net'; createServer().listen(${JSON.stringify(socketPath(folder))}, () => console.log('held'))`
    const holder = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(holder.stdout, 'data')
    await expect(holdFolder(folder)).rejects.toThrow(code('data-folder-in-use'))
    holder.kill('SIGKILL')
    await once(holder, 'exit')
    expect(existsSync(socketPath(folder))).toBe(true)
    const held = await holdFolder(folder)
    await held.release()
  })
})

describe('the local socket', () => {
  test('carries rows, progress and the answer', async () => {
    const folder = freshFolder()
    const held = await holdFolder(folder)
    serveSocket(held, async (name, args, says) => {
      says.progress('half way')
      await says.row({ name })
      await says.row({ args })
      return 12345678901234567890n
    })
    const seen: unknown[] = []
    const says = { row: (row: unknown) => void seen.push(row), progress: (text: string) => void seen.push(text), signal: new AbortController().signal }
    expect(await (await askFolder(folder))('greet', { text: 'žluťoučký\nkůň' }, says)).toBe(12345678901234567890n)
    expect(seen).toEqual(['half way', { name: 'greet' }, { args: { text: 'žluťoučký\nkůň' } }])
    await held.release()
  })

  test('whoever called while the server was still starting is answered when it serves', async () => {
    const folder = freshFolder()
    const held = await holdFolder(folder)
    const says = { row: () => undefined, progress: () => undefined, signal: new AbortController().signal }
    const early = (await askFolder(folder))('greet', {}, says)
    await expect.poll(() => held.callers.size).toBe(1)
    serveSocket(held, (name) => Promise.resolve(`heard ${name}`))
    expect(await early).toBe('heard greet')
    await held.release()
  })

  test('the server waits while nobody takes its rows', async () => {
    const folder = freshFolder()
    const held = await holdFolder(folder)
    let told = 0
    serveSocket(held, async (_name, _args, says) => {
      for (; told < 2_000; told += 1) await says.row('x'.repeat(10_000))
    })
    const socket = await callHolder(folder)
    if (socket === undefined) throw new Error('nobody holds the folder')
    let taken = 0
    for await (const row of streamOver(socket, 'flood', {})) {
      if (taken === 0) expect(told).toBeLessThan(2_000)
      expect(row).toHaveLength(10_000)
      taken += 1
    }
    expect(taken).toBe(2_000)
    await held.release()
  })

  test('carries faults with their code', async () => {
    const folder = freshFolder()
    const held = await holdFolder(folder)
    serveSocket(held, () => Promise.reject(new Fault('no-such-thing', 'There is none. Look elsewhere.')))
    await expect((await askFolder(folder))('find', {}, quiet())).rejects.toThrow(code('no-such-thing'))
    await held.release()
  })

  test('hanging up cancels the work', async () => {
    const folder = freshFolder()
    const held = await holdFolder(folder)
    const cancelled = new Promise<void>((resolve) =>
      serveSocket(held, (_name, _args, says) => new Promise((done) => says.signal.addEventListener('abort', () => done(resolve())))))
    const leaving = new AbortController()
    const asked = (await askFolder(folder))('follow', {}, { ...quiet(), signal: leaving.signal })
    leaving.abort()
    await Promise.all([asked, cancelled])
    await held.release()
  })

  test('a server that ends in the middle is told, not waited for', async () => {
    const folder = freshFolder()
    const held = await holdFolder(folder)
    held.server.on('connection', (socket) => socket.once('data', () => socket.destroy()))
    await expect((await askFolder(folder))('find', {}, quiet())).rejects.toThrow(code('server-gone'))
    await held.release()
  })

  test('nonsense on the socket is answered with a fault', async () => {
    const folder = freshFolder()
    const held = await holdFolder(folder)
    serveSocket(held, () => Promise.resolve())
    const socket = await callHolder(folder)
    socket?.write('nonsense\n')
    const answers: string[] = []
    socket?.setEncoding('utf8').on('data', (text: string) => answers.push(text))
    if (socket !== undefined) await once(socket, 'close')
    expect(answers.join('')).toContain('"fault"')
    await held.release()
  })
})
