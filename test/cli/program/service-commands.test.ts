import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import type { UnloadedContext } from '../../../cli/context.ts'
import { createOutput } from '../../../cli/output.ts'
import { createProgram } from '../../../cli/program.ts'
import { createDomains } from '../../../domains/domains.ts'
import type { LocalService } from '../../../domains/record.ts'
import { booksRecord } from '../../testing/books/record.ts'

/** A service that answers `open` on its port. */
const shop: LocalService = {
  name: 'shop-local',
  about: 'run a book shop on this machine',
  port: 18_999,
  start: async ({ port }) => {
    const server = createServer((_, response) => response.end('open')).listen(port, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const stop = async (): Promise<void> => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    }
    return { url, variables: { SHOP_URL: url, SHOP_SECRET: "it's $HOME" }, stop }
  },
}

const opened = (localServices: readonly LocalService[]) => {
  const [lines, notes]: [string[], string[]] = [[], []]
  const stopping = new AbortController()
  let printed: (() => void) | undefined
  const ready = new Promise<void>((resolve) => (printed = resolve))
  const out = {
    write: (text: string) => {
      lines.push(text)
      if (text.includes('SHOP_SECRET')) printed?.()
    },
  }
  const context: UnloadedContext = {
    env: {},
    input: Readable.from([]),
    output: createOutput({ out, err: { write: (text) => notes.push(text) }, color: false, now: () => 0 }),
    signal: stopping.signal,
  }
  const codes: number[] = []
  const program = () =>
    createProgram(context, (code) => codes.push(code), createDomains([{ ...booksRecord, localServices }]))
  const run = (...args: readonly string[]) => program().parseAsync(args, { from: 'user' })
  return { run, program, ready, lines, notes, codes, stopping }
}

test('the command of a local service prints its variables for a shell, and runs until it is stopped', async () => {
  const { run, ready, lines, notes, codes, stopping } = opened([shop])
  const running = run('shop-local', '--port', '0')
  await ready
  const [, url = ''] = /'(http:[^']+)'/.exec(lines[0] ?? '') ?? []
  expect(lines).toEqual([`export SHOP_URL='${url}'\n`, "export SHOP_SECRET='it'\\''s $HOME'\n"])
  expect(notes.join('')).toContain(`shop-local listens on ${url}`)
  expect(await (await fetch(url)).text()).toBe('open')
  expect(codes).toEqual([])
  stopping.abort()
  await running
  expect(codes).toEqual([0])
  await expect(fetch(url)).rejects.toThrow()
})

test('a port that another program uses is named, with the option that selects another port', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void other.close())
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  await expect(opened([shop]).run('shop-local', '--port', String(port))).rejects.toMatchObject({
    code: 'port-in-use',
    message: `Another program listens on 127.0.0.1:${port}. Stop it, or select another address with --port.`,
  })
})

test('a local service cannot have the name of another command', () => {
  expect(opened([{ ...shop, name: 'start' }]).program).toThrow(/The local service start of the domain books/)
})
