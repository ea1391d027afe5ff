import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { newPackage } from '../e2e/package-of-domain.ts'
import { cleanEnv, freshFolder } from '../e2e/program.ts'
import { installTest, pack, PATH } from '../e2e/tarball.ts'

const root = join(import.meta.dirname, '..', '..')
const page = readFileSync(join(root, 'docs', 'tutorial.md'), 'utf8')

/**
 * Replaces everything that differs in each run: ids, times, addresses, counts and positions. Positions differ because events about the use of a
 * token are appended at any time.
 */
const masked = (text: string): string =>
  text
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/http:\/\/127\.0\.0\.1:\d+/g, 'URL')
    .replace(/\b0:\d+\b|"_pos":\d+/g, 'POSITION')
    .replace(/\d+(?= events? folded| items? compared)/g, 'N')
    .replace(/of this key's \d+ events?/g, "of this key's N events")
    .replace(/[\d,]+(?= events| crash points)/g, 'N')
    .replace(/ENTRY#e\d has the room ".*!"/g, 'ENTRY#ID has the room ROOM')
    .replace(/--seed \d+/g, '--seed N')

/** Requires that the output contains the lines that the page shows, in this order. */
const expectShown = (shown: string, printed: string, command: string): void => {
  const lines = masked(printed).split('\n')
  let from = 0
  for (const line of masked(shown).split('\n')) {
    const at = lines.indexOf(line, from)
    expect(at, `${command} does not print:\n${line}\nIt prints:\n${masked(printed)}`).toBeGreaterThanOrEqual(0)
    from = at + 1
  }
}

/** Applies a change that the page shows: whole lines, which the file contains once. */
const applyChange = (file: string, change: string): void => {
  const lines = change.split('\n')
  const side = (sign: string): string =>
    lines
      .filter((line) => line.startsWith(' ') || line.startsWith(sign))
      .map((line) => `${line.slice(1)}\n`)
      .join('')
  const parts = readFileSync(file, 'utf8').split(side('-'))
  expect(parts, `${file} must contain these lines once:\n${side('-')}`).toHaveLength(2)
  writeFileSync(file, parts.join(side('+')))
}

/** A terminal in which the commands of the page run. */
const openTerminal = (folder: string) => {
  const env: NodeJS.ProcessEnv = {
    ...cleanEnv({ TRIBUTARY_HTTP: '127.0.0.1:0', TRIBUTARY_ADMIN: '127.0.0.1:0', TRIBUTARY_MQTT: '127.0.0.1:0' }),
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_prefer_offline: 'true',
    PATH,
  }
  let cwd = folder
  let url = ''
  let server: ChildProcess | undefined

  const stop = async (): Promise<void> => {
    if (server?.pid === undefined || server.exitCode !== null || server.signalCode !== null) return
    // npm runs the program in a process of its own.
    process.kill(-server.pid, 'SIGTERM')
    await once(server, 'exit')
  }
  onTestFinished(stop)

  /** Stops the running server, starts another one, and returns what it prints until it is ready. */
  const start = async (command: string): Promise<string> => {
    await stop()
    server = spawn(`${command} 2>&1`, { shell: true, cwd, env, detached: true, stdio: ['ignore', 'pipe', 'inherit'] })
    const lines: string[] = []
    if (server.stdout !== null)
      for await (const line of createInterface({ input: server.stdout })) {
        lines.push(line)
        if (line.startsWith('a first token: ')) break
      }
    const printed = lines.join('\n')
    url = /listens on (\S+)/.exec(printed)?.[1] ?? ''
    expect(url, printed).not.toBe('')
    return printed
  }

  const run = (command: string): { readonly status: number | null; readonly stdout: string; readonly all: string } => {
    const { status, stdout, stderr } = spawnSync('bash', ['-c', command.replaceAll('http://localhost:8080', url)], {
      cwd,
      env,
      encoding: 'utf8',
    })
    return { status, stdout, all: `${stdout}\n${stderr}` }
  }

  /** Runs a command of the page. Returns what it prints. A command without shown output must succeed. */
  const type = async (command: string, mustSucceed: boolean): Promise<string> => {
    const [, to] = /^cd (\S+)$/.exec(command) ?? []
    if (to !== undefined) {
      cwd = join(cwd, to)
      return ''
    }
    if (command === 'npm start') return start(command)
    const [, variable, value] = /^([A-Z]+)=\$\((.*)\)$/.exec(command) ?? []
    const { status, stdout, all } = run(value ?? command)
    if (mustSucceed) expect(status, `${command}\n${all}`).toBe(0)
    if (variable !== undefined) env[variable] = stdout.trim()
    return all
  }
  return { type, run, fileIn: (name: string) => join(cwd, name) }
}

/** The steps of the page: its code blocks, and the files that it names on lines of their own. */
const steps = [...page.matchAll(/^```(\w+)\n([\s\S]*?)\n```$|^`(\S+)`$/gm)].map(
  ([, language = 'file', text = '', file = '']) => ({ language, text: text + file }),
)

test('every change of the page applies to a package that tributary new writes', async () => {
  const folder = await newPackage('plants')
  let file = ''
  for (const { language, text } of steps) {
    if (language === 'file') file = text
    if (language === 'diff') applyChange(join(folder, file), text)
  }
})

installTest(
  'every command and every change of the tutorial has the outcome that it shows, from the packed tarball in an empty folder',
  { timeout: 600_000 },
  async () => {
    const folder = freshFolder()
    const { tarball } = pack(root, '--ignore-scripts', folder)
    expect(page).toContain(`npm install ../${basename(tarball)}`)
    const { type, run, fileIn } = openTerminal(folder)
    let [file, printed] = ['', '']
    for (const { language, text } of steps) {
      if (language === 'file') file = text
      if (language === 'diff') applyChange(fileIn(file), text)
      if (language === 'sh')
        for (const command of text.split('\n')) {
          printed = await type(command, true)
          if (command === 'npm test') expect(printed).toContain(/ends with `(\d+ passed)`/.exec(page)?.[1])
        }
      if (language === 'text') expectShown(text, printed, 'npm start')
      if (language !== 'console') continue
      for (const [command = '', ...shown] of text
        .split(/^\$ /m)
        .slice(1)
        .map((part) => part.trimEnd().split('\n'))) {
        const output = await type(command, shown.length === 0)
        if (shown.length > 0) expectShown(shown.join('\n'), output, command)
      }
    }

    const importing = (name: string) => run(`node --input-type=module -e "await import('${name}')"`)
    expect(importing('tributary/domain')).toMatchObject({ status: 0 })
    for (const name of ['tributary', 'tributary/dist/api/domain.js', 'tributary/package.json'])
      expect(importing(name).all, name).toContain('ERR_PACKAGE_PATH_NOT_EXPORTED')
  },
)
