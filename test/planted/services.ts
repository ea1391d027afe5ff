import type { Mistakes } from './mistake.ts'

const ADAPTER_TESTS = 'test/processors/adapters'
const SERVICE_TESTS = 'test/services'

/** Mistakes to plant in the code that appends records to Kafka. A test must fail for each of them. These tests need no broker. */
export const KAFKA_APPEND: Mistakes = {
  'the answer to other records counts as an acknowledgement': {
    file: 'processors/adapters/kafka/writer.ts',
    find: ' ||\n    offset < floor',
    replace: '',
    by: `${ADAPTER_TESTS}/kafka/append.test.ts`,
    test: 'an answer with an earlier offset does not acknowledge the records',
  },
  'a new producer sends records again after an unknown outcome': {
    file: 'processors/adapters/kafka/partition-queue.ts',
    find: "(outcome.kind === 'cancelled' || outcome.kind === 'stuck')",
    replace: "outcome.kind === 'cancelled'",
    by: `${ADAPTER_TESTS}/kafka/append.test.ts`,
    test: 'if a sequence breaks after an unknown attempt, the outcome is unknown and nothing is written twice',
  },
  'the rest of an append is written after a part of it failed': {
    file: 'processors/adapters/kafka/append.ts',
    find: "|| (call.failures.length > 0 && state === 'waiting')",
    replace: '',
    by: `${ADAPTER_TESTS}/kafka/append.test.ts`,
    test: 'the rest of an append is not written after a part of it failed',
  },
}

const GROUP_MODEL = 'test/simulation/kafka-group.test.ts'

/** Mistakes in consuming the partitions of a member. Their test needs no broker: it checks a bounded model of a consumer group. */
export const KAFKA_GROUP: Mistakes = {
  'a batch begins although another member may own the partition': {
    file: 'processors/adapters/kafka/assigned-partition.ts',
    find: 'if (!assignment.isCurrent()) return clock.sleep',
    replace: 'if (false as boolean) return clock.sleep',
    by: GROUP_MODEL,
    test: 'a member that reads an old heartbeat late',
  },
  'a session counts from the time when an answer is read': {
    file: 'processors/adapters/kafka/membership.ts',
    find: 'sent = sentAt',
    replace: 'sent = clock.now()',
    by: GROUP_MODEL,
    test: 'a member that reads an old heartbeat late',
  },
  'a partition that was paused after a failure is not resumed': {
    file: 'processors/adapters/kafka/assigned-partition.ts',
    find: "state.activity = 'idle'\n  fetchFrom(state, from)",
    replace: "state.activity = 'idle'",
    by: GROUP_MODEL,
    test: 'with two members',
  },
  'a batch that failed is skipped': {
    file: 'processors/adapters/kafka/assigned-partition.ts',
    find: 'else void pauseAndRetry(state, from, error)',
    replace: 'else advanceTo(state, from + 1)',
    by: GROUP_MODEL,
    test: 'with two members',
  },
  'a partition that is assigned again begins a batch while its earlier batch runs': {
    file: 'processors/adapters/kafka/session.ts',
    find: 'earlierWork.set(assignment.partition, assignment.settled())',
    replace: '',
    by: GROUP_MODEL,
    test: 'a member that joins again in the middle of a batch',
  },
  'the committed offset is one too far': {
    file: 'processors/adapters/kafka/assigned-partition.ts',
    find: 'partitions: [{ partition, offset: String(offset) }] }],',
    replace: 'partitions: [{ partition, offset: String(offset + 1) }] }],',
    by: GROUP_MODEL,
    test: 'with two members',
  },
}

/** Mistakes in reading the log. Most of their tests need a real broker. */
export const KAFKA: Mistakes = {
  'a key is in another partition than other producers use for it': {
    file: 'processors/adapters/kafka/partition.ts',
    find: '& 0x7fffffff',
    replace: '>>> 1',
    by: `${ADAPTER_TESTS}/kafka/partition.test.ts`,
    test: 'a key is in the partition that other Kafka producers use for it',
  },
  'a range does not end before `to`': {
    file: 'processors/adapters/kafka/read.ts',
    find: 'records.filter(({ offset }) => offset < end)',
    replace: 'records',
    by: `${SERVICE_TESTS}/kafka/contract.test.ts`,
    test: 'a range begins at `from` and ends before `to`',
  },
}

export const DYNAMODB: Mistakes = {
  'a lost answer counts as a conflict': {
    file: 'processors/adapters/dynamodb/commit.ts',
    find: 'isApplied([write], current)',
    replace: 'false',
    by: `${SERVICE_TESTS}/dynamodb/faults.test.ts`,
    test: 'the retry of a put whose answer was lost finds that the put was applied',
  },
  'a transaction with a lost answer counts as a conflict': {
    file: 'processors/adapters/dynamodb/commit.ts',
    find: 'isApplied(chunk, current)',
    replace: 'false',
    by: `${SERVICE_TESTS}/dynamodb/faults.test.ts`,
    test: 'finds that it was applied, its token forgotten',
  },
  'keys that the service left unprocessed are dropped': {
    file: 'processors/adapters/dynamodb/load.ts',
    find: 'left = answer.UnprocessedKeys?.[name]?.Keys ?? []',
    replace: 'left = []',
    by: `${SERVICE_TESTS}/dynamodb/faults.test.ts`,
    test: 'unprocessed keys are requested again',
  },
  'items that the service left unprocessed are dropped': {
    file: 'processors/adapters/dynamodb/bulk.ts',
    find: 'left = UnprocessedItems?.[name] ?? []',
    replace: 'left = []',
    by: `${SERVICE_TESTS}/dynamodb/faults.test.ts`,
    test: 'unprocessed items are written again',
  },
  'items are loaded without strong consistency': {
    file: 'processors/adapters/dynamodb/load.ts',
    find: 'Keys: left, ConsistentRead: true',
    replace: 'Keys: left, ConsistentRead: false',
    by: `${SERVICE_TESTS}/dynamodb/faults.test.ts`,
    test: 'every read of items by key is strongly consistent',
  },
  'a page ends early because items in it have expired': {
    file: 'processors/adapters/dynamodb/query.ts',
    find: 'if (start === undefined || found.length > query.limit) break',
    replace: 'break',
    by: `${SERVICE_TESTS}/dynamodb/contract.test.ts`,
    test: 'hide expired items and fill the page nevertheless',
  },
  'the checkpoint is written although a span failed': {
    file: 'processors/adapters/dynamodb/store.ts',
    find: "checkpoint !== undefined && outcomes.every(({ applied }) => applied === 'all')",
    replace: 'checkpoint !== undefined',
    by: `${SERVICE_TESTS}/dynamodb/contract.test.ts`,
    test: 'do not move if any span failed',
  },
  'large whole numbers are rounded': {
    file: 'processors/adapters/dynamodb/codec.ts',
    find: '(wholeNumberOf(text) ?? value)',
    replace: 'value',
    by: `${SERVICE_TESTS}/dynamodb/contract.test.ts`,
    test: 'every value is read as it was written',
  },
}
