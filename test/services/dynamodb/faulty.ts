import {
  ProvisionedThroughputExceededException,
  ThrottlingException,
  TransactionCanceledException,
  type BatchGetItemCommandInput,
  type BatchGetItemCommandOutput,
  type BatchWriteItemCommandInput,
  type BatchWriteItemCommandOutput,
  type DynamoDB,
  type ServiceInputTypes,
  type ServiceOutputTypes,
} from '@aws-sdk/client-dynamodb'
import { randomUUID } from 'node:crypto'
import { connect } from '../../../processors/adapters/dynamodb/connect.ts'

/** A fault of one request, or `none`. `lost`: the request is applied, and its answer is lost. `starved`: nothing of the batch is processed. */
export type Trouble = 'none' | 'starved' | 'throttled' | 'exceeded' | 'conflict' | 'broken' | 'unreachable' | 'lost'

export interface Faulty {
  readonly client: DynamoDB
  /** The names of the sent commands, in order. */
  readonly sent: string[]
  /** The sent commands with their inputs. */
  readonly requests: { readonly command: string; readonly input: ServiceInputTypes }[]
  /** Sets the troubles of the next requests, in order. Later requests have the trouble of `always`. */
  next(...troubles: readonly Trouble[]): void
  /** Sets the trouble of each request from now on. */
  always(trouble: (command: string) => Trouble): void
  /** From now on, the service processes only the first `size` items of each batch. */
  limitBatches(size: number): void
  /** From now on, the service recognises no token of an earlier transaction, as after ten minutes. */
  forgetTokens(): void
}

const $metadata = { httpStatusCode: 400 }

/** Returns a client of a real DynamoDB Local. It can replace answers by faults that DynamoDB Local never causes. */
export const createFaulty = (endpoint: string): Faulty => {
  const client = connect({ endpoint })
  const sent: string[] = []
  const requests: { command: string; input: ServiceInputTypes }[] = []
  let planned: Trouble[] = []
  let defaultTrouble: (command: string) => Trouble = () => 'none'
  let limit = Number.POSITIVE_INFINITY
  let replacesTokens = false
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const command = context.commandName ?? ''
      sent.push(command)
      requests.push({ command, input: args.input })
      const trouble = planned.shift() ?? defaultTrouble(command)
      const error = errorOf(trouble)
      if (error !== undefined && trouble !== 'lost') throw error
      if (trouble === 'starved') return { output: starved(args.input), response: undefined }
      const { input, left } = limited(command, args.input, limit)
      const answer = await next({
        ...args,
        input: replacesTokens && 'ClientRequestToken' in input ? { ...input, ClientRequestToken: randomUUID() } : input,
      })
      if (error !== undefined) throw error
      Object.assign(answer.output, left)
      return answer
    },
    { step: 'initialize', name: 'trouble' },
  )
  return {
    client,
    sent,
    requests,
    next: (...troubles) => void (planned = [...troubles]),
    always: (trouble) => void (defaultTrouble = trouble),
    limitBatches: (size) => void (limit = size),
    forgetTokens: () => void (replacesTokens = true),
  }
}

/** An answer that leaves the whole batch unprocessed. */
const starved = (input: ServiceInputTypes): ServiceOutputTypes => {
  const { RequestItems } = input as BatchGetItemCommandInput & BatchWriteItemCommandInput
  return { $metadata: {}, UnprocessedItems: RequestItems, UnprocessedKeys: RequestItems }
}

/** Splits a batch: `input` is the request with the first `limit` items, and `left` contains the other items as unprocessed items of the answer. */
const limited = (
  command: string,
  input: ServiceInputTypes,
  limit: number,
): { input: ServiceInputTypes; left: Partial<ServiceOutputTypes> } => {
  if (command === 'BatchGetItemCommand') {
    const [[table, { Keys = [] } = {}] = ['']] = Object.entries((input as BatchGetItemCommandInput).RequestItems ?? {})
    const left: Partial<BatchGetItemCommandOutput> =
      Keys.length > limit ? { UnprocessedKeys: { [table]: { Keys: Keys.slice(limit) } } } : {}
    return { input: { RequestItems: { [table]: { Keys: Keys.slice(0, limit), ConsistentRead: true } } }, left }
  }
  if (command === 'BatchWriteItemCommand') {
    const [[table, writes] = ['', []]] = Object.entries((input as BatchWriteItemCommandInput).RequestItems ?? {})
    const left: Partial<BatchWriteItemCommandOutput> =
      writes.length > limit ? { UnprocessedItems: { [table]: writes.slice(limit) } } : {}
    return { input: { RequestItems: { [table]: writes.slice(0, limit) } }, left }
  }
  return { input, left: {} }
}

const errorOf = (trouble: Trouble): Error | undefined => {
  switch (trouble) {
    case 'none':
    case 'starved':
      return undefined
    case 'throttled':
      return new ThrottlingException({ message: 'slow down', $metadata })
    case 'exceeded':
      return new ProvisionedThroughputExceededException({ message: 'slow down', $metadata })
    case 'conflict':
      return new TransactionCanceledException({
        message: 'conflict',
        $metadata,
        CancellationReasons: [{ Code: 'None' }, { Code: 'TransactionConflict' }],
      })
    case 'broken':
      return Object.assign(new Error('Internal Server Error'), {
        name: 'InternalServerError',
        $fault: 'server',
        $metadata: { httpStatusCode: 500 },
      })
    case 'unreachable':
      return Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    case 'lost':
      return Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
  }
}
