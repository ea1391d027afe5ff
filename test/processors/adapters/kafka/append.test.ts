import type { Message, RecordMetadata } from 'kafkajs'
import { describe, expect, test } from 'vitest'
import { createAppender, type Appender } from '../../../../processors/adapters/kafka/append.ts'
import { settingsOf, type KafkaOptions } from '../../../../processors/adapters/kafka/options.ts'
import type { ProducerPort } from '../../../../processors/adapters/kafka/writer.ts'
import { isFault } from '../../../../schemas/fault.ts'
import { record } from '../../../contracts/log-records.ts'

type Answer = (messages: Message[], offset: number) => Promise<RecordMetadata[]>

/** A clock whose time passes only if nothing else can run. Then the time moves to the end of the first sleep that ends. */
function virtualClock() {
  let now = 1_000
  const sleepers = new Set<{ readonly until: number; wake(): void }>()
  const pass = (): void => {
    const next = [...sleepers].sort((a, b) => a.until - b.until)[0]
    if (next === undefined) return
    now = Math.max(now, next.until)
    next.wake()
  }
  const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const sleeper = {
        until: now + ms,
        wake: () => {
          sleepers.delete(sleeper)
          resolve()
        },
      }
      sleepers.add(sleeper)
      signal?.addEventListener('abort', sleeper.wake)
      setImmediate(pass)
    })
  return { now: () => now, sleep }
}

const acknowledged = (partition: number, offset: number): RecordMetadata[] => [
  { topicName: 'events', partition, errorCode: 0, baseOffset: String(offset) },
]
const protocolError = (type: string): Error =>
  Object.assign(new Error(type), { name: 'KafkaJSProtocolError', type, retriable: false })

/** An appender over partitions in memory. The nth send is answered by the nth of `answers`. Later sends succeed. */
function setup({
  answers = [],
  options = {},
  partitions = 1,
  opening,
  verifying,
}: {
  answers?: Answer[]
  options?: Partial<KafkaOptions>
  partitions?: number
  opening?: () => Promise<void>
  verifying?: () => Promise<void>
}) {
  const written = Array.from({ length: partitions }, (): string[] => [])
  const sends: { producer: number; values: string[] }[] = []
  let producers = 0
  const openProducer = async (partition: number): Promise<ProducerPort> => {
    await opening?.()
    const producer = ++producers
    let requests = 0
    return {
      requests: () => requests,
      close: async () => {},
      async send(messages, release) {
        await verifying?.()
        if (!release()) return undefined
        requests++
        const values = messages.map(({ value }) => String(value))
        sends.push({ producer, values })
        const log = written[partition] ?? []
        const offset = log.length
        const answer = answers.shift()
        if (answer) return answer(messages, offset)
        log.push(...values)
        return acknowledged(partition, offset)
      },
    }
  }
  const settings = settingsOf({ brokers: ['nowhere:1'], clock: virtualClock(), ...options })
  const appender = createAppender({
    topic: 'events',
    settings,
    partitionOf: (key) => Number(key) % partitions,
    openProducer,
    maxRecordBytes: 10_000,
  })
  return { appender, written, sends, producers: () => producers }
}

/** `passed` resolves after `open` was called. */
function createGate() {
  let open: () => void = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open: () => open(), passed: () => opened }
}

const faultOf = async (appender: Appender, ...records: ReturnType<typeof record>[]): Promise<string> =>
  appender.append(records).then(
    () => 'no fault',
    (error: unknown) => (isFault(error) ? `${error.code}${error.retriable ? ' (retriable)' : ''}` : String(error)),
  )

describe('appending to Kafka', () => {
  test('one request contains all waiting records in order, and one request is open at a time', async () => {
    const { appender, sends } = setup({})
    const calls = Array.from({ length: 5 }, (_, index) => appender.append([record('0', `${index}`)]))
    const positions = (await Promise.all(calls)).flat()
    expect(positions.map(({ offset }) => offset)).toEqual([0, 1, 2, 3, 4])
    expect(sends.map(({ values }) => values)).toEqual([['0', '1', '2', '3', '4']])
  })

  test('the next request contains a small append of another key, however many records of one key wait', async () => {
    const { appender, sends } = setup({ partitions: 1 })
    const flood = Array.from({ length: 4 }, () =>
      appender.append(Array.from({ length: 1_000 }, (_, nth) => record('0', `${nth}`))),
    )
    await appender.append([record('1', 'small')])
    expect(sends.findIndex(({ values }) => values.includes('small'))).toBe(0)
    const positions = (await Promise.all(flood)).map((all) => all.map(({ offset }) => offset))
    expect(positions.flat()).toEqual([...positions.flat()].sort((a, b) => a - b))
  })

  test('a send contains records of one partition only', async () => {
    const { appender, sends } = setup({ partitions: 3 })
    await appender.append(['0', '1', '2', '3'].map((key) => record(key, `of ${key}`)))
    expect(sends.map(({ values }) => values)).toEqual([['of 0', 'of 3'], ['of 1'], ['of 2']])
  })

  test('a producer stuck on its sequence is replaced, and the records are written once', async () => {
    const stuck: Answer = async () => {
      throw protocolError('OUT_OF_ORDER_SEQUENCE_NUMBER')
    }
    const { appender, written, producers } = setup({ answers: [stuck] })
    expect(await appender.append([record('0', 'a')])).toEqual([{ partition: 0, offset: 0 }])
    expect(written[0]).toEqual(['a'])
    expect(producers()).toBe(2)
  })

  test('after a broken connection the same producer sends the records again, so the broker recognises them', async () => {
    const broken: Answer = async () => {
      throw new Error('closed connection')
    }
    const { appender, sends } = setup({ answers: [broken] })
    await appender.append([record('0', 'a')])
    expect(sends).toEqual([
      { producer: 1, values: ['a'] },
      { producer: 1, values: ['a'] },
    ])
  })

  test('an append without an answer fails with append-unknown, and its producer sends nothing else', async () => {
    const hanging: Answer = async () => {
      throw new Error('request timed out')
    }
    const { appender, sends } = setup({
      answers: Array.from({ length: 100 }, () => hanging),
      options: { timing: { append: 3_000 } },
    })
    expect(await faultOf(appender, record('0', 'perhaps'))).toBe('append-unknown')
    const attempts = sends.length
    expect(sends.every(({ producer }) => producer === 1)).toBe(true)
    expect(await faultOf(appender, record('0', 'next'))).toBe('append-unknown')
    expect(sends.slice(attempts).every(({ producer }) => producer === 2)).toBe(true)
  })

  test('if a sequence breaks after an unknown attempt, the outcome is unknown and nothing is written twice', async () => {
    const lostAnswer: Answer = async () => {
      throw new Error('closed connection')
    }
    const stuck: Answer = async () => {
      throw protocolError('OUT_OF_ORDER_SEQUENCE_NUMBER')
    }
    const { appender, written } = setup({ answers: [lostAnswer, stuck] })
    expect(await faultOf(appender, record('0', 'a'))).toBe('append-unknown')
    expect(written[0]).toEqual([])
  })

  test.each<[string, Answer]>([
    ['no partition', async () => []],
    ['another partition', async (_, offset) => acknowledged(7, offset)],
    ['no offset', async () => [{ topicName: 'events', partition: 0, errorCode: 0 }]],
    [
      'an error',
      async (_, offset) => [{ topicName: 'events', partition: 0, errorCode: 3, baseOffset: String(offset) }],
    ],
  ])('an answer that names %s is no acknowledgement', async (_, answer) => {
    const { appender } = setup({
      answers: Array.from({ length: 100 }, () => answer),
      options: { timing: { append: 2_000 } },
    })
    expect(await faultOf(appender, record('0', 'a'))).toBe('append-unknown')
  })

  test('an answer with an earlier offset does not acknowledge the records', async () => {
    const { appender } = setup({
      options: { timing: { append: 2_000 } },
      answers: [
        async () => acknowledged(0, 5),
        ...Array.from({ length: 100 }, (): Answer => async () => acknowledged(0, 5)),
      ],
    })
    expect(await appender.append([record('0', 'a')])).toEqual([{ partition: 0, offset: 5 }])
    expect(await faultOf(appender, record('0', 'b'))).toBe('append-unknown')
  })

  test('while no broker answers, nothing is written and the append fails with log-unavailable', async () => {
    let down = true
    const opening = async () => {
      if (down) throw new Error('connect ECONNREFUSED')
    }
    const { appender, written } = setup({ opening, options: { timing: { append: 2_000 } } })
    expect(await faultOf(appender, record('0', 'a'))).toBe('log-unavailable (retriable)')
    down = false
    expect(await faultOf(appender, record('0', 'b'))).toBe('no fault')
    expect(written[0]).toEqual(['b'])
  })

  test.each(['opening', 'verifying'] as const)(
    'an append that is still %s a producer at its deadline fails as not written, and is not written later',
    async (stage) => {
      const gate = createGate()
      const { appender, written } = setup({ [stage]: gate.passed, options: { timing: { append: 2_000 } } })
      expect(await faultOf(appender, record('0', 'late'))).toBe('log-unavailable (retriable)')
      gate.open()
      expect(await faultOf(appender, record('0', 'next'))).toBe('no fault')
      expect(written[0]).toEqual(['next'])
    },
  )

  test('an append without an answer at its deadline is unknown, and the records after it are not written', async () => {
    const gate = createGate()
    const hanging: Answer = async () => {
      await gate.passed()
      throw new Error('request timed out')
    }
    const { appender, written } = setup({ answers: [hanging], options: { timing: { append: 2_000 } } })
    const first = faultOf(appender, record('0', 'sent'))
    await new Promise((resolve) => setImmediate(resolve))
    const second = faultOf(appender, record('0', 'behind'))
    expect(await Promise.all([first, second])).toEqual(['append-unknown', 'log-unavailable (retriable)'])
    gate.open()
    expect(await faultOf(appender, record('0', 'next'))).toBe('no fault')
    expect(written[0]).toEqual(['next'])
  })

  test('the caller of an append can set a shorter deadline', async () => {
    const clock = virtualClock()
    const { appender } = setup({ opening: createGate().passed, options: { clock } })
    const from = clock.now()
    expect(await appender.append([record('0', 'a')], 100).catch((error: unknown) => isFault(error) && error.code)).toBe(
      'log-unavailable',
    )
    expect(clock.now() - from).toBe(100)
  })

  test('a record above the limit is rejected before anything of its append is written', async () => {
    const { appender, written } = setup({})
    expect(await faultOf(appender, record('0', 'small'), record('0', 'x'.repeat(20_000)))).toBe('record-too-large')
    expect(written[0]).toEqual([])
  })

  test('a request that the broker rejects as too large is sent record by record', async () => {
    const tooLarge: Answer = async () => {
      throw protocolError('MESSAGE_TOO_LARGE')
    }
    const { appender, written } = setup({ answers: [tooLarge, tooLarge] })
    const results = await Promise.all([
      faultOf(appender, record('0', 'first')),
      faultOf(appender, record('0', 'second')),
    ])
    expect(results).toEqual(['record-too-large', 'no fault'])
    expect(written[0]).toEqual(['second'])
  })

  test('an append above the limit of waiting bytes is rejected, and nothing of it is written', async () => {
    const { appender, written } = setup({ options: { maxQueuedBytes: 1_000 } })
    const first = appender.append([record('0', 'x'.repeat(800))])
    expect(await faultOf(appender, record('0', 'y'.repeat(800)))).toBe('log-overloaded (retriable)')
    await first
    expect(await faultOf(appender, record('0', 'z'))).toBe('no fault')
    expect(written[0]?.map((value) => value[0])).toEqual(['x', 'z'])
  })

  test('the rest of an append is not written after a part of it failed', async () => {
    const refused: Answer = async () => {
      throw protocolError('MESSAGE_TOO_LARGE')
    }
    const { appender, written } = setup({ answers: [refused] })
    const records = [record('0', 'a'.repeat(6_000)), record('0', 'b'.repeat(6_000))]
    expect(await faultOf(appender, ...records)).toBe('record-too-large')
    expect(written[0]).toEqual([])
  })

  test('closing waits for the open request, and a closed log rejects appends', async () => {
    const patient = {
      now: () => 0,
      sleep: (_: number, signal?: AbortSignal) =>
        new Promise<void>((resolve) => {
          signal?.addEventListener('abort', () => resolve())
        }),
    }
    const { appender, written } = setup({ options: { clock: patient } })
    const last = appender.append([record('0', 'a')])
    await appender.close()
    expect(await last).toHaveLength(1)
    expect(written[0]).toEqual(['a'])
    expect(await faultOf(appender, record('0', 'b'))).toBe('log-unavailable (retriable)')
  })
})
