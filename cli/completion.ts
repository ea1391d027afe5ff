import type { Argument, Command, Option } from 'commander'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/** The words that can follow a command: its subcommands, its options, and the values of its first arguments. */
interface Node {
  /** The words of the command, without the name of the program: `parked list`. */
  readonly path: string
  readonly words: readonly { readonly word: string; readonly about: string }[]
  /** For each argument, in order: its possible values. An empty list: any value. */
  readonly args: readonly (readonly string[])[]
  /** For each option that takes a value, by its long name: the possible values. An empty list: any value. */
  readonly values: ReadonlyMap<string, readonly string[]>
}

export interface CompletionParts {
  readonly program: Command
  /** The values of every argument and option that is named `domain`. */
  readonly domains: readonly string[]
}

/** A completion script for a shell, generated from the commands themselves. */
export const completionScript = (shell: Shell, parts: CompletionParts): string => {
  const nodes = nodesOf(parts, parts.program, '')
  return shell === 'bash' ? bash(nodes) : shell === 'zsh' ? zsh(nodes) : fish(nodes)
}

const nodesOf = (parts: CompletionParts, command: Command, path: string): readonly Node[] => {
  const under = command.commands.flatMap((each) => nodesOf(parts, each, `${path} ${each.name()}`.trim()))
  // Some commands have a default subcommand: `tributary parked DOMAIN` means `tributary parked list DOMAIN`. So the words that can follow
  // `parked list` can also follow `parked`.
  const { _defaultCommandName: defaultName } = command as { readonly _defaultCommandName?: string | null }
  const byDefault = under.find((node) => node.path === `${path} ${defaultName ?? ''}`)
  const options = [...command.options, ...(path === '' ? [] : parts.program.options)].filter(
    ({ long, hidden }) => long !== undefined && long !== null && !hidden,
  )
  const own: Node = {
    path,
    words: [
      ...command.commands.map((each) => ({ word: each.name(), about: each.description() })),
      ...(command.commands.length > 0 ? [{ word: 'help', about: 'display help for command' }] : []),
      ...options.map((option) => ({ word: option.long as string, about: option.description })),
      ...(byDefault?.words.filter(({ word }) => word !== '--help' && !options.some(({ long }) => long === word)) ?? []),
      { word: '--help', about: 'display help for command' },
    ],
    args:
      command.registeredArguments.length > 0
        ? command.registeredArguments.map((argument) => wordsOf(parts, argument))
        : (byDefault?.args ?? []),
    values: new Map([
      ...(byDefault?.values ?? []),
      ...options
        .filter(({ required, optional }) => required || optional)
        .map((option) => [option.long as string, wordsOf(parts, option)] as const),
    ]),
  }
  return [own, ...under]
}

const wordsOf = ({ domains }: CompletionParts, named: Argument | Option): readonly string[] =>
  named.argChoices ?? (('attributeName' in named ? named.attributeName() : named.name()) === 'domain' ? domains : [])

/** Quotes a text so that bash, zsh and fish read it as one word. */
const quoted = (text: string): string => `'${text.replaceAll("'", '’').replaceAll('\n', ' ')}'`
const list = (words: readonly string[]): string => quoted(words.join(' '))

/** Returns the shell functions that bash and zsh share. For the words typed so far, they print the words that can follow, one per line. */
const shared = (nodes: readonly Node[]): string => `__tributary_path() {
  local path='' word
  for word in "$@"; do
    case "$path $word" in
${nodes
  .filter(({ path }) => path !== '')
  .map(({ path }) => `      ${quoted(path.includes(' ') ? path : ` ${path}`)}) path=${quoted(path)} ;;`)
  .join('\n')}
    esac
  done
  printf '%s' "$path"
}
__tributary_words() {
  case "$1" in
${nodes.map(({ path, words }) => `    ${quoted(path)}) printf '%s\\n' ${words.map(({ word }) => quoted(word)).join(' ')} ;;`).join('\n')}
  esac
}
__tributary_value() {
  case "$1 $2" in
${nodes.flatMap(({ path, values }) => [...values].map(([option, words]) => `    ${quoted(`${path} ${option}`)}) printf '%s\\n' ${words.length === 0 ? "''" : words.map(quoted).join(' ')} ;;`)).join('\n')}
    *) return 1 ;;
  esac
}
__tributary_argument() {
  case "$1 $2" in
${nodes.flatMap(({ path, args }) => args.flatMap((words, index) => (words.length === 0 ? [] : [`    ${quoted(`${path} ${index}`)}) printf '%s\\n' ${words.map(quoted).join(' ')} ;;`]))).join('\n')}
  esac
}
__tributary_complete() {
  local last="$1" path index=0 depth word skip=''
  shift
  path="$(__tributary_path "$@")"
  case "$last" in --*) __tributary_value "$path" "$last" && return ;; esac
  depth="$(set -- $path; echo $#)"
  for word in "$@"; do
    if [ -n "$skip" ]; then skip=''; continue; fi
    case "$word" in
      --*) __tributary_value "$path" "$word" >/dev/null && skip=1 ;;
      *) index=$((index + 1)) ;;
    esac
  done
  __tributary_argument "$path" "$((index - depth))"
  __tributary_words "$path"
}`

const bash = (
  nodes: readonly Node[],
): string => `# bash completion for tributary. Load it with: source <(tributary completion bash)
${shared(nodes)}
_tributary() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before=("\${COMP_WORDS[@]:1:COMP_CWORD-1}")
  local last=''
  [ \${#before[@]} -gt 0 ] && last="\${before[\${#before[@]}-1]}"
  COMPREPLY=()
  while IFS= read -r word; do
    [ -n "$word" ] && COMPREPLY+=("$word")
  done < <(compgen -W "$(__tributary_complete "$last" "\${before[@]}")" -- "$current")
}
complete -o default -F _tributary tributary
`

const zsh = (nodes: readonly Node[]): string => `#compdef tributary
# zsh completion for tributary. Load it with: source <(tributary completion zsh)
${shared(nodes).replaceAll('set -- $path', 'set -- ${=path}')}
_tributary() {
  local -a before candidates
  before=("\${(@)words[2,CURRENT-1]}")
  candidates=("\${(@f)$(__tributary_complete "\${before[-1]:-}" "\${before[@]}")}")
  candidates=(\${candidates:#})
  if (( \${#candidates} )); then compadd -a candidates; else _files; fi
}
compdef _tributary tributary
`

const fish = (
  nodes: readonly Node[],
): string => `# fish completion for tributary. Load it with: tributary completion fish | source
function __tributary_path
    set -l path ''
    for word in (commandline -opc)[2..-1]
        switch "$path $word"
${nodes
  .filter(({ path }) => path !== '')
  .map(
    ({ path }) =>
      `            case ${quoted(path.includes(' ') ? path : ` ${path}`)}\n                set path ${quoted(path)}`,
  )
  .join('\n')}
        end
    end
    echo $path
end
function __tributary_at
    test (__tributary_path) = "$argv[1]"
end
complete -c tributary -f
${nodes.flatMap((node) => fishLines(node)).join('\n')}
`

const fishLines = ({ path, words, args, values }: Node): readonly string[] => {
  const at = `-n "__tributary_at '${path}'"`
  return [
    ...words.map(({ word, about }) =>
      word.startsWith('--')
        ? `complete -c tributary ${at} -l ${word.slice(2)} -d ${quoted(about)}${values.has(word) ? ` -x -a ${list(values.get(word) ?? [])}` : ''}`
        : `complete -c tributary ${at} -a ${quoted(word)} -d ${quoted(about)}`,
    ),
    ...args.filter((each) => each.length > 0).map((each) => `complete -c tributary ${at} -a ${list(each)}`),
    ...(args.length > 0 && args.every((each) => each.length === 0) ? [`complete -c tributary ${at} -F`] : []),
  ]
}
