import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { confirm, confirmIrreversible } from '../../cli/confirm.ts'

const startQuestion = () => {
  const stopping = new AbortController()
  const input = Object.assign(new PassThrough(), { isTTY: true })
  const answer = confirm('Sure?', {
    signal: stopping.signal,
    input,
    output: new PassThrough(),
    interrupt: () => stopping.abort(),
  })
  return { input, answer, stop: () => stopping.abort() }
}

test.each([
  ['y\n', true],
  ['YES\n', true],
  ['n\n', false],
  ['\n', false],
  ['yeah\n', false],
])('the answer %j means %s', async (typed, meant) => {
  const { input, answer } = startQuestion()
  input.write(typed)
  expect(await answer).toBe(meant)
})

test('the end of the input means no', async () => {
  const { input, answer } = startQuestion()
  input.end()
  expect(await answer).toBe(false)
})

test('Ctrl-C and a signal of another process interrupt the question', async () => {
  const one = startQuestion()
  one.input.write('\u0003')
  await expect(one.answer).rejects.toMatchObject({ name: 'AbortError' })
  const other = startQuestion()
  other.stop()
  await expect(other.answer).rejects.toMatchObject({ name: 'AbortError' })
})

test('without a terminal the command itself is the confirmation', async () => {
  expect(await confirm('Sure?', { signal: new AbortController().signal, input: new PassThrough() })).toBe(true)
})

describe('a command that cannot be undone', () => {
  const signal = new AbortController().signal

  test('needs --yes without a terminal', async () => {
    await expect(
      confirmIrreversible('Sure?', { yes: undefined, signal, input: new PassThrough() }),
    ).rejects.toMatchObject({ code: 'confirmation-needed' })
    expect(await confirmIrreversible('Sure?', { yes: true, signal, input: new PassThrough() })).toBe(true)
  })

  test('asks on a terminal', async () => {
    const input = Object.assign(new PassThrough(), { isTTY: true })
    const answer = confirmIrreversible('Sure?', { yes: undefined, signal, input, output: new PassThrough() })
    input.write('n\n')
    expect(await answer).toBe(false)
  })
})
