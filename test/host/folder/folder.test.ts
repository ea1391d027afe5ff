import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { connectToServer, lockFolder, prepareFolder, requireFolder } from '../../../host/folder/folder.ts'
import { noOutput, type OperationOutput } from '../../../host/ipc/operations.ts'
import { sendRequest, serveSocket, streamRows } from '../../../host/ipc/socket.ts'
import { Fault } from '../../../schemas/fault.ts'

const socketPath = (folder: string): string => join(folder, 'tributary.sock')
const freshFolder = (): string => mkdtempSync(join(tmpdir(), 'tributary-'))
const code = (of: string) => expect.objectContaining({ code: of })

const connect = async (folder: string) => {
  const socket = await connectToServer(folder)
  if (socket === undefined) throw new Error('no process has the folder')
  return socket
}

const request = async (
  folder: string,
  name: string,
  { args = {}, output = noOutput() }: { args?: unknown; output?: OperationOutput<unknown> } = {},
) => sendRequest(await connect(folder), { name, args }, output)

describe('the data folder', () => {
  test('is created if it is missing', () => {
    const folder = join(freshFolder(), 'a', 'b')
    prepareFolder(folder)
    expect(existsSync(join(folder, 'tributary.json'))).toBe(true)
  })

  test('that is missing, empty or a file is reported to commands that only read, and not created', () => {
    const folder = freshFolder()
    writeFileSync(join(folder, 'file'), '')
    for (const wrong of [join(folder, 'missing'), folder, join(folder, 'file')])
      expect(() => requireFolder(wrong)).toThrow(code('no-data-folder'))
    expect(readdirSync(folder)).toEqual(['file'])
  })

  test('that contains foreign files is refused and not changed; a new volume is accepted', () => {
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

  test('that cannot be created is refused', () =>
    expect(() => prepareFolder('/proc/tributary/data')).toThrow(code('data-folder-unusable')))

  test('has one owner at a time, and is free after the release', async () => {
    const folder = freshFolder()
    const first = await lockFolder(folder)
    await expect(lockFolder(folder)).rejects.toThrow(code('data-folder-in-use'))
    await first.release()
    const second = await lockFolder(folder)
    await second.release()
    expect(await connectToServer(folder)).toBeUndefined()
    expect(readdirSync(folder)).toEqual(['locks', 'tributary.json'])
  })

  test('has one owner if many try at once', async () => {
    const folder = freshFolder()
    const attempts = await Promise.allSettled(Array.from({ length: 12 }, () => lockFolder(folder)))
    const locks = attempts.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    expect(locks).toHaveLength(1)
    await locks[0]?.release()
  })

  test('is not taken while a process of an earlier release, which only has the socket, uses it', async () => {
    const folder = freshFolder()
    const script = `import { createServer } from 'node:net'; createServer().listen(${JSON.stringify(socketPath(folder))}, () => console.log('held'))`
    const owner = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(owner.stdout, 'data')
    await expect(lockFolder(folder)).rejects.toThrow(code('data-folder-in-use'))
    owner.kill('SIGKILL')
    await once(owner, 'exit')
    expect(existsSync(socketPath(folder))).toBe(true)
    const lock = await lockFolder(folder)
    await lock.release()
  })
})

describe('the local socket', () => {
  test('transfers rows, progress and the result', async () => {
    const folder = freshFolder()
    const lock = await lockFolder(folder)
    serveSocket(lock, async (name, args, output) => {
      output.progress('half way')
      await output.row({ name })
      await output.row({ args })
      return 12345678901234567890n
    })
    const seen: unknown[] = []
    const output = {
      row: (row: unknown) => void seen.push(row),
      progress: (text: string) => void seen.push(text),
      signal: new AbortController().signal,
    }
    expect(await request(folder, 'greet', { args: { text: 'žluťoučký\nkůň' }, output })).toBe(12345678901234567890n)
    expect(seen).toEqual(['half way', { name: 'greet' }, { args: { text: 'žluťoučký\nkůň' } }])
    await lock.release()
  })

  test('a request that was sent while the server was starting is answered when it serves', async () => {
    const folder = freshFolder()
    const lock = await lockFolder(folder)
    const early = request(folder, 'greet')
    await expect.poll(() => lock.connections.size).toBe(1)
    serveSocket(lock, (name) => Promise.resolve(`received ${name}`))
    expect(await early).toBe('received greet')
    await lock.release()
  })

  test('the server waits while the caller does not read its rows', async () => {
    const folder = freshFolder()
    const lock = await lockFolder(folder)
    let sent = 0
    serveSocket(lock, async (_name, _args, output) => {
      for (; sent < 2_000; sent += 1) await output.row('x'.repeat(10_000))
    })
    let taken = 0
    for await (const row of streamRows(await connect(folder), { name: 'flood', args: {} })) {
      if (taken === 0) expect(sent).toBeLessThan(2_000)
      expect(row).toHaveLength(10_000)
      taken += 1
    }
    expect(taken).toBe(2_000)
    await lock.release()
  })

  test('transfers faults with their code', async () => {
    const folder = freshFolder()
    const lock = await lockFolder(folder)
    serveSocket(lock, () => Promise.reject(new Fault('no-such-thing', 'There is none. Look elsewhere.')))
    await expect(request(folder, 'find')).rejects.toThrow(code('no-such-thing'))
    await lock.release()
  })

  test('a closed connection cancels the work', async () => {
    const folder = freshFolder()
    const lock = await lockFolder(folder)
    const cancelled = new Promise<void>((resolve) =>
      serveSocket(
        lock,
        (_name, _args, output) => new Promise((done) => output.signal.addEventListener('abort', () => done(resolve()))),
      ),
    )
    const leaving = new AbortController()
    const output = { ...noOutput(), signal: leaving.signal }
    const following = sendRequest(await connect(folder), { name: 'follow', args: {} }, output)
    const rejected = expect(following).rejects.toThrow('aborted')
    leaving.abort()
    await Promise.all([rejected, cancelled])
    await lock.release()
  })

  test('a server that ends before it has answered is a fault', async () => {
    const folder = freshFolder()
    const lock = await lockFolder(folder)
    lock.server.on('connection', (socket) => socket.once('data', () => socket.destroy()))
    await expect(request(folder, 'find')).rejects.toThrow(code('server-gone'))
    await lock.release()
  })

  test('a malformed request is answered with a fault', async () => {
    const folder = freshFolder()
    const lock = await lockFolder(folder)
    serveSocket(lock, () => Promise.resolve())
    const socket = await connectToServer(folder)
    socket?.write('nonsense\n')
    const answers: string[] = []
    socket?.setEncoding('utf8').on('data', (text: string) => answers.push(text))
    if (socket !== undefined) await once(socket, 'close')
    expect(answers.join('')).toContain('"fault"')
    await lock.release()
  })
})
