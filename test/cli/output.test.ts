import { describe, expect, test } from 'vitest'
import { columns, createOutput, wantsColor } from '../../cli/output.ts'

const terminal = ({ isTTY = false, color = false } = {}) => {
  const texts = { out: '', err: '' }
  let at = 0
  const output = createOutput({
    out: { write: (text) => (texts.out += text) },
    err: { write: (text) => (texts.err += text), isTTY },
    color,
    now: () => at,
  })
  return { texts, output, pass: (ms: number) => (at += ms) }
}

describe('what commands say', () => {
  test('data goes to stdout, notes and progress to stderr', () => {
    const { texts, output } = terminal()
    output.line('data')
    output.note('note')
    output.progress('half')
    expect(texts).toEqual({ out: 'data\n', err: 'note\nhalf\n' })
  })

  test('progress is a line every 5 s where there is no terminal', () => {
    const { texts, output, pass } = terminal()
    for (let second = 0; second < 12; second += 1, pass(1000)) output.progress(`${second}`)
    expect(texts.err).toBe('0\n5\n10\n')
  })

  test('on a terminal progress rewrites its line, and leaves it empty for what follows', () => {
    const { texts, output } = terminal({ isTTY: true })
    output.progress('one')
    output.progress('two')
    output.line('data')
    expect(texts).toEqual({ out: 'data\n', err: '\r\u001b[Kone\r\u001b[Ktwo\r\u001b[K' })
  })

  test('colours only on a terminal, and never against NO_COLOR, --no-color or a dumb one', () => {
    expect(wantsColor({}, [], true)).toBe(true)
    expect(wantsColor({}, [], false)).toBe(false)
    expect(wantsColor({ NO_COLOR: '1' }, [], true)).toBe(false)
    expect(wantsColor({}, ['status', '--no-color'], true)).toBe(false)
    expect(wantsColor({ TERM: 'dumb' }, [], true)).toBe(false)
    expect(terminal({ color: true }).output.red('x')).toBe('\u001b[31mx\u001b[0m')
    expect(terminal().output.red('x')).toBe('x')
  })

  test('control characters in data are escaped, in JSON as JSON escapes them', () => {
    const stored = 'a\u001b]0;title\u0007\u009b2J\u007f\r\u202eb'
    const { texts, output } = terminal({ isTTY: true })
    output.line(stored)
    output.note(stored)
    output.line(JSON.stringify({ stored }))
    const escaped = 'a\\u001b]0;title\\u0007\\u009b2J\\u007f\\u000d\\u202eb'
    expect(texts.out.split('\n')[0]).toBe(escaped)
    expect(texts.err).toBe(`${escaped}\n`)
    expect(JSON.parse(texts.out.split('\n')[1] ?? '')).toEqual({ stored })
  })

  test('our own colours stay where there are colours, and only they', () => {
    const { texts, output } = terminal({ color: true })
    output.line(`${output.red('red')}\u001b[5mblink`)
    expect(texts.out).toBe('\u001b[31mred\u001b[0m\\u001b[5mblink\n')
  })

  test('a file format is written as it was stored, and escaped on a terminal only', () => {
    const texts = { file: '', screen: '' }
    const to = (name: 'file' | 'screen') => createOutput({ out: { write: (text) => (texts[name] += text), isTTY: name === 'screen' }, err: { write: () => undefined }, color: false, now: () => 0 })
    to('file').exact('a\u001b[2Jb')
    to('screen').exact('a\u001b[2Jb')
    expect(texts).toEqual({ file: 'a\u001b[2Jb\n', screen: 'a\\u001b[2Jb\n' })
  })

  test('columns are as wide as their widest cell', () => expect(columns([['a', 'bb', 'c'], ['aaa', 'b', '']])).toBe('a    bb  c\naaa  b'))
})
