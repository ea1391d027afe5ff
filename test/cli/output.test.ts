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

  test('columns are as wide as their widest cell', () => expect(columns([['a', 'bb', 'c'], ['aaa', 'b', '']])).toBe('a    bb  c\naaa  b'))
})
