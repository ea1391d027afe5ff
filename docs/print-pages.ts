import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import type { Command } from 'commander'
import { OUR_DOMAINS } from '../domains/list.ts'
import { defaultOf, describedVariables } from '../host/config/descriptions.ts'
import { createOutput } from '../cli/output.ts'
import { createProgram } from '../cli/program.ts'
import { apiPage } from './print-api.ts'

const WIDTH = 110

const COMMANDS_INTRO = `# Commands

<!-- \`npm run pages\` writes this page from cli/program/. Change the texts there. -->

There is one program, \`tributary\`. In a clone, call it as \`node bin/tributary.js\`. This page shows the \`--help\` text of every command.

**Output.** Data goes to stdout; progress and logs go to stderr. \`--json\` is stable, so scripts use it. Tables fit the terminal, or 80 columns elsewhere: long text continues on the next line, and a table that is still too wide becomes one block per row. On a terminal, or with \`COLUMNS\` set, long words are broken too. Elsewhere every id stays whole. Colours are on only on a terminal: \`NO_COLOR\` and \`--no-color\` switch them off, \`FORCE_COLOR=1\` switches them on.

**Exit codes.** 0 success, 1 failure, 2 wrong usage, 3 differences found, 4 a key is parked, 130 interrupted.

**Data folder.** While a server runs on the embedded data folder, other commands reach it through a socket in that folder. Only \`start\`, \`token create\`, \`import\` and \`restore\` create a data folder; the other commands end with \`no-data-folder\` if there is none. A server logs every command of an operator: who, what, when and how it ended ([what is logged](operating.md#who-did-what)).

**Shell completion.** \`source <(tributary completion bash)\` in \`~/.bashrc\`, \`source <(tributary completion zsh)\` in \`~/.zshrc\` after \`compinit\`, or \`tributary completion fish > ~/.config/fish/completions/tributary.fish\`.

More on single commands: [moving data in and out](moving.md) (\`import\`, \`export\`), [operating](operating.md) (\`rebuild\`, \`flip\`, \`verify\`, \`parked\`, \`forget\`, \`append\`, \`backup\`), [reliability](reliability.md) (\`simulate\`).
`

const CONFIGURATION_INTRO = `# Configuration

<!-- \`npm run pages\` writes this page from host/config. Change the texts there. -->

The program reads its configuration from the environment, once. It checks all variables at the start and lists every mistake with the fix; an unknown \`TRIBUTARY_\` variable is a mistake too. \`tributary start --print-config\` shows the configuration without the values of secrets. \`tributary doctor\` checks every service that it names.

For a secret, the variable \`NAME_FILE\` can name a file that contains the value.
`

const leavesOf = (command: Command): readonly Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf)

const nameOf = (command: Command): string =>
  command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`

const anchorOf = (command: Command): string => nameOf(command).replaceAll(' ', '-')

const section = (command: Command): readonly string[] => [
  `## ${nameOf(command)}`,
  '',
  '```',
  command
    .configureOutput({ getOutHelpWidth: () => WIDTH })
    .helpInformation()
    .trimEnd(),
  '```',
  '',
  ...command.commands.flatMap(section),
]

const commandsPage = (): string => {
  const output = createOutput({ out: new Writable(), err: new Writable(), color: false, columns: WIDTH, now: Date.now })
  const program = createProgram(
    { env: {}, input: process.stdin, output, signal: AbortSignal.abort() },
    () => undefined,
    OUR_DOMAINS,
  )
  const rows = leavesOf(program).map((each) => `| [\`${nameOf(each)}\`](#${anchorOf(each)}) | ${each.description()} |`)
  return [COMMANDS_INTRO, '| command | does |', '|---|---|', ...rows, '', ...section(program)].join('\n')
}

const configurationPage = (): string => {
  const variables = describedVariables(OUR_DOMAINS)
  const groups = [...new Set(variables.map(({ group }) => group))]
  const tables = groups.flatMap((group) => [
    `## ${group}`,
    '',
    '| variable | default | sets |',
    '|---|---|---|',
    ...variables
      .filter((each) => each.group === group)
      .map(({ name, about, unset = '', variable }) => {
        const fallback = defaultOf(variable)
        const secret = variable.secret === true ? ' Secret.' : ''
        return `| \`${name}\` | ${fallback === undefined ? unset : `\`${fallback}\``} | ${about}${secret} |`
      }),
    '',
  ])
  return [CONFIGURATION_INTRO, ...tables].join('\n')
}

/** The text of each generated page, by its path in the repository. */
export const pages = (): Readonly<Record<string, string>> => ({
  'docs/commands.md': commandsPage(),
  'docs/configuration.md': configurationPage(),
  'docs/api.md': apiPage(),
})

if (process.argv[1] === import.meta.filename)
  for (const [path, text] of Object.entries(pages())) writeFileSync(join(import.meta.dirname, '..', path), text)
