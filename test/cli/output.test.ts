import { describe, expect, test } from 'vitest'
import { columnsIn, createOutput, wantsColor } from '../../cli/output.ts'

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

describe('the output of commands', () => {
  test('data goes to stdout, notes and progress to stderr', () => {
    const { texts, output } = terminal()
    output.line('data')
    output.note('note')
    output.progress('half')
    expect(texts).toEqual({ out: 'data\n', err: 'note\nhalf\n' })
  })

  test('progress is at most one line per 5 s without a terminal', () => {
    const { texts, output, pass } = terminal()
    for (let second = 0; second < 12; second += 1, pass(1000)) output.progress(`${second}`)
    expect(texts.err).toBe('0\n5\n10\n')
  })

  test('on a terminal progress rewrites its line, and the next output replaces the line', () => {
    const { texts, output } = terminal({ isTTY: true })
    output.progress('one')
    output.progress('two')
    output.line('data')
    expect(texts).toEqual({ out: 'data\n', err: '\r\u001b[Kone\r\u001b[Ktwo\r\u001b[K' })
  })

  test('colours are on only on a terminal that supports them, and NO_COLOR and --no-color switch them off', () => {
    expect(wantsColor({}, [], true)).toBe(true)
    expect(wantsColor({}, [], false)).toBe(false)
    expect(wantsColor({ NO_COLOR: '1' }, [], true)).toBe(false)
    expect(wantsColor({}, ['status', '--no-color'], true)).toBe(false)
    expect(wantsColor({ TERM: 'dumb' }, [], true)).toBe(false)
    expect(wantsColor({ FORCE_COLOR: '1' }, [], false)).toBe(true)
    expect(wantsColor({ FORCE_COLOR: '0' }, [], true)).toBe(false)
    expect(wantsColor({ FORCE_COLOR: '1', NO_COLOR: '1' }, [], true)).toBe(false)
    expect(terminal({ color: true }).output.red('x')).toBe('\u001b[31mx\u001b[39m')
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

  test('no escape sequence is written except our own colours, and these only if colours are on', () => {
    const { texts, output } = terminal({ color: true })
    output.line(`${output.red('red')}\u001b[5mblink`)
    expect(texts.out).toBe('\u001b[31mred\u001b[39m\\u001b[5mblink\n')
  })

  test('a file format is written as it was stored, and escaped on a terminal only', () => {
    const texts = { file: '', screen: '' }
    const to = (name: 'file' | 'screen') =>
      createOutput({
        out: { write: (text) => (texts[name] += text), isTTY: name === 'screen' },
        err: { write: () => undefined },
        color: false,
        now: () => 0,
      })
    to('file').exact('a\u001b[2Jb')
    to('screen').exact('a\u001b[2Jb')
    expect(texts).toEqual({ file: 'a\u001b[2Jb\n', screen: 'a\\u001b[2Jb\n' })
  })

  test('a text is redrawn in its place on a terminal, and written as blocks elsewhere', () => {
    const texts = { screen: '', file: '' }
    const to = (name: 'screen' | 'file') =>
      createOutput({
        out: { write: (text) => (texts[name] += text), isTTY: name === 'screen', columns: 10, rows: 5 },
        err: { write: () => undefined },
        color: false,
        now: () => 0,
      })
    const [screen, file] = [to('screen'), to('file')]
    for (const text of ['one\ntwo and three', 'four', '1\n2\n3\n4\n5\n6', 'end'])
      for (const output of [screen, file]) output.redraw(text)
    // The second line takes two rows of the screen. A text with more rows than the screen is cut, because the screen would scroll.
    expect(texts.screen).toBe(
      'one\ntwo and three\n\u001b[3A\r\u001b[Jfour\n\u001b[1A\r\u001b[J1\n2\n3\n4\n\u001b[4A\r\u001b[Jend\n',
    )
    expect(texts.file).toBe('one\ntwo and three\n\nfour\n\n1\n2\n3\n4\n5\n6\n\nend\n\n')
  })

  test('COLUMNS sets the width of tables', () => {
    expect(columnsIn({ COLUMNS: '100' })).toBe(100)
    expect(columnsIn({ COLUMNS: '10' })).toBe(40)
    expect(columnsIn({ COLUMNS: 'wide' })).toBeUndefined()
    expect(columnsIn({})).toBeUndefined()
  })

  test('the headings of a table are bold if colours are on, and cells are escaped before they are measured', () => {
    expect(
      terminal({ color: true }).output.table([
        ['a', 'b'],
        ['x', 'y'],
      ]),
    ).toBe('\u001b[1ma  b\u001b[22m\nx  y')
    expect(
      terminal().output.table([
        ['a', 'b'],
        ['\u001b', 'y'],
      ]),
    ).toBe('a       b\n\\u001b  y')
  })
})
