import type { Mistakes } from './mistake.ts'

const ADAPTER_TESTS = 'test/processors/adapters'
const SERVICE_TESTS = 'test/services'

/** Mistakes in how records are appended: the tests stand in for the brokers. */
export const KAFKA_APPEND: Mistakes = {
  'an answer to other records is taken for an acknowledgement': {
    file: 'processors/adapters/kafka/writer.ts', find: ' || offset < floor', replace: '',
    by: `${ADAPTER_TESTS}/kafka/append.test.ts`, test: 'an answer with an offset from before is the answer to other records',
  },
  'records are sent again by a new producer after an unknown outcome': {
    file: 'processors/adapters/kafka/lane.ts', find: "(outcome.kind === 'held-back' || outcome.kind === 'stuck')", replace: "outcome.kind === 'held-back'",
    by: `${ADAPTER_TESTS}/kafka/append.test.ts`, test: 'a sequence that breaks after an unknown try is unknown, not written twice',
  },
  'the part of an append behind a failed one is written': {
    file: 'processors/adapters/kafka/append.ts', find: "|| (call.failures.length > 0 && state === 'waiting')", replace: '',
    by: `${ADAPTER_TESTS}/kafka/append.test.ts`, test: 'what follows a failed part of the same append is not written',
  },
}

const GROUP_MODEL = 'test/simulation/kafka-group.test.ts'

/** Mistakes in how a member follows its group: the bounded model of a group stands in for the brokers. */
export const KAFKA_GROUP: Mistakes = {
  'a batch is begun although the lease may be gone': {
    file: 'processors/adapters/kafka/hold.ts', find: 'if (!lease.held()) return state.settings', replace: 'if (false as boolean) return state.settings',
    by: GROUP_MODEL, test: 'a member that reads an old heartbeat late',
  },
  'a session counts from when an answer is read': {
    file: 'processors/adapters/kafka/membership.ts', find: 'sent = sentAt', replace: 'sent = clock.now()',
    by: GROUP_MODEL, test: 'a member that reads an old heartbeat late',
  },
  'a partition that was paused after a failure is not resumed': {
    file: 'processors/adapters/kafka/hold.ts', find: "state.doing = 'nothing'\n  restart(state, from)", replace: "state.doing = 'nothing'",
    by: GROUP_MODEL, test: 'that two have joined',
  },
  'a batch that failed is passed over': {
    file: 'processors/adapters/kafka/hold.ts', find: 'else void rest(state, from, error)', replace: 'else moveTo(state, from + 1)',
    by: GROUP_MODEL, test: 'that two have joined',
  },
  'a partition that comes back is begun beside the batch that is under way': {
    file: 'processors/adapters/kafka/session.ts', find: 'earlier.set(hold.partition, hold.settled())', replace: '',
    by: GROUP_MODEL, test: 'a member that joins again in the middle of a batch',
  },
  'the committed offset is one too far': {
    file: 'processors/adapters/kafka/hold.ts', find: 'offset: String(offset) }] }] })', replace: 'offset: String(offset + 1) }] }] })',
    by: GROUP_MODEL, test: 'that two have joined',
  },
}

/** Mistakes in how the log is read, on a real broker. */
export const KAFKA: Mistakes = {
  'a key lies in another partition than other producers put it': {
    file: 'processors/adapters/kafka/partition.ts', find: '& 0x7fffffff', replace: '>>> 1',
    by: `${ADAPTER_TESTS}/kafka/partition.test.ts`, test: 'a key lies where any other Kafka producer would put it',
  },
  'a range does not end where it was asked to': {
    file: 'processors/adapters/kafka/read.ts', find: 'records.filter(({ offset }) => offset < end)', replace: 'records',
    by: `${SERVICE_TESTS}/kafka/contract.test.ts`, test: 'a range begins at `from` and ends before `to`',
  },
}

export const DYNAMODB: Mistakes = {
  'an answer that was lost is taken for a conflict': {
    file: 'processors/adapters/dynamodb/commit.ts', find: 'isApplied([write], current)', replace: 'false',
    by: `${SERVICE_TESTS}/dynamodb/faults.test.ts`, test: 'a single put that was applied though its answer was lost is found by its own retry',
  },
  'a transaction whose answer was lost is taken for a conflict': {
    file: 'processors/adapters/dynamodb/commit.ts', find: 'isApplied(chunk, current)', replace: 'false',
    by: `${SERVICE_TESTS}/dynamodb/faults.test.ts`, test: 'is found by its own retry, its token forgotten',
  },
  'keys that the service left unprocessed are dropped': {
    file: 'processors/adapters/dynamodb/load.ts', find: 'left = answer.UnprocessedKeys?.[name]?.Keys ?? []', replace: 'left = []',
    by: `${SERVICE_TESTS}/dynamodb/faults.test.ts`, test: 'keys left unprocessed are asked for again',
  },
  'items that the service left unprocessed are dropped': {
    file: 'processors/adapters/dynamodb/bulk.ts', find: 'left = UnprocessedItems?.[name] ?? []', replace: 'left = []',
    by: `${SERVICE_TESTS}/dynamodb/faults.test.ts`, test: 'items left unprocessed are written again',
  },
  'items are loaded without strong consistency': {
    file: 'processors/adapters/dynamodb/load.ts', find: 'Keys: left, ConsistentRead: true', replace: 'Keys: left, ConsistentRead: false',
    by: `${SERVICE_TESTS}/dynamodb/faults.test.ts`, test: 'every read of items by key is strongly consistent',
  },
  'a page ends early because items in it have expired': {
    file: 'processors/adapters/dynamodb/query.ts', find: 'if (start === undefined || found.length > asked.limit) break', replace: 'break',
    by: `${SERVICE_TESTS}/dynamodb/contract.test.ts`, test: 'hide expired items and still fill the page',
  },
  'the checkpoint is written although a span failed': {
    file: 'processors/adapters/dynamodb/store.ts', find: "checkpoint !== undefined && outcomes.every(({ applied }) => applied === 'all')", replace: 'checkpoint !== undefined',
    by: `${SERVICE_TESTS}/dynamodb/contract.test.ts`, test: 'stay where they were when any span failed',
  },
  'large whole numbers are rounded': {
    file: 'processors/adapters/dynamodb/codec.ts', find: '(wholeOf(text) ?? value)', replace: 'value',
    by: `${SERVICE_TESTS}/dynamodb/contract.test.ts`, test: 'every value comes back as it went in',
  },
}
