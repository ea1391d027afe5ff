import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { describeWith, type Available } from '../services/available.ts'
import { runOk } from './program.ts'

/** Command lines. For the last word of each line, a shell must offer the candidates in `offers`, and none of the candidates in `not`. */
const CASES: readonly {
  readonly line: string
  readonly offers: readonly string[]
  readonly not?: readonly string[]
}[] = [
  { line: 'tributary st', offers: ['start', 'status'], not: ['verify'] },
  { line: 'tributary parked dis', offers: ['discard'], not: ['doctor'] },
  { line: 'tributary verify ', offers: ['meals', 'scales', 'expenses'] },
  { line: 'tributary verify m', offers: ['meals'], not: ['scales'] },
  { line: 'tributary events --domain e', offers: ['expenses'], not: ['events', 'meals'] },
  { line: 'tributary events --domain expenses --l', offers: ['--last'], not: ['--drop'] },
  { line: 'tributary export expenses key --format ', offers: ['json', 'csv'], not: ['--history'] },
  { line: 'tributary completion ', offers: ['bash', 'zsh', 'fish'] },
  { line: 'tributary token create --sc', offers: ['--scopes'] },
]

const shell = (name: string): Available => {
  const found = spawnSync(name, ['--version'], { stdio: 'ignore' })
  return found.status === 0 ? { ok: true } : { ok: false, how: `${name} is not here; Debian: apt-get install ${name}` }
}

const scriptOf = (name: string): Promise<string> => runOk(['completion', name], {})

const runShell = (name: string, args: readonly string[], input = ''): readonly string[] => {
  const { stdout, stderr, status } = spawnSync(name, args, {
    input,
    encoding: 'utf8',
    env: { ...process.env, TERM: 'dumb' },
  })
  if (status !== 0) throw new Error(`${name} ended with ${status}: ${stderr}`)
  return stdout
    .split('\n')
    .map((line) => line.split('\t')[0] ?? '')
    .filter((line) => line !== '')
}

/** Returns the candidates for a line, by shell. zsh completes only on a terminal, so there the test calls the function of the completion script. */
const CANDIDATES: Readonly<Record<string, (script: string, line: string) => readonly string[]>> = {
  bash: (script, line) => {
    const words = line.split(' ')
    return runShell(
      'bash',
      ['--norc', '-e'],
      `${script}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _tributary || true; printf '%s\\n' "\${COMPREPLY[@]}"\n`,
    )
  },
  zsh: (script, line) => {
    const words = line.split(' ').slice(1)
    const before = words.slice(0, -1).map((word) => `'${word}'`)
    const own = script.replace(/^compdef .*$/m, '')
    return runShell(
      'zsh',
      ['-f'],
      `${own}\n__tributary_complete ${before.at(-1) ?? "''"} ${before.join(' ')}\n`,
    ).filter((word) => word.startsWith(words.at(-1) ?? ''))
  },
  fish: (script, line) => runShell('fish', ['--no-config', '-c', `${script}\ncomplete -C '${line}'\n`]),
}

for (const [name, candidates] of Object.entries(CANDIDATES)) {
  describeWith(`completion in ${name}`, shell(name), () => {
    test('offers commands, options, domains and choices at their positions', async () => {
      const script = await scriptOf(name)
      for (const { line, offers, not = [] } of CASES) {
        const offered = candidates(script, line)
        expect(offered, `${name}: ${line}`).toEqual(expect.arrayContaining([...offers]))
        expect(
          offered.filter((word) => not.includes(word)),
          `${name}: ${line}`,
        ).toEqual([])
      }
    })
  })
}

describe('completion', () => {
  test('contains every command that the program lists', async () => {
    const help = await runOk(['--help'], {})
    const commands = [...help.matchAll(/^ {2}([a-z][a-z-]*)\b.* {2}/gm)].map(([, command]) => command ?? '')
    expect(commands.length).toBeGreaterThan(15)
    for (const name of Object.keys(CANDIDATES)) {
      const script = await scriptOf(name)
      expect(
        commands.filter((command) => !script.includes(`'${command}'`)),
        name,
      ).toEqual([])
    }
  })
})
