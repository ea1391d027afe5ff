import { DynamoDB } from '@aws-sdk/client-dynamodb'
import { DynamoDBStreams } from '@aws-sdk/client-dynamodb-streams'

const TABLE = 'bench-bare-stream'
const PAUSE_MS = 100

export interface BareLoad {
  readonly perSecond: number
  readonly seconds: number
  readonly items: number
}

/**
 * Measures the delay of DynamoDB Streams alone: the time from the answer to a put until a loop of GetRecords receives the change. Returns one delay
 * per put, in milliseconds.
 */
export const bareStream = async (
  endpoint: string,
  { perSecond, seconds, items }: BareLoad,
): Promise<readonly number[]> => {
  const connection = { endpoint, region: 'local', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }
  const [db, streams] = [new DynamoDB(connection), new DynamoDBStreams(connection)]
  try {
    const { TableDescription: table } = await db.createTable({
      TableName: TABLE,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [{ AttributeName: 'PK', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'PK', AttributeType: 'S' }],
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
    })
    const answered = new Map<string, number>()
    const delays: number[] = []
    const stopping = new AbortController()
    const reading = await follow(streams, table?.LatestStreamArn ?? '', {
      signal: stopping.signal,
      onRecord: (nth) => delays.push(performance.now() - (answered.get(nth) ?? performance.now())),
    })
    const began = performance.now()
    const putting: Promise<void>[] = []
    for (let nth = 0; nth < perSecond * seconds; nth += 1) {
      const wait = began + (nth * 1000) / perSecond - performance.now()
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
      putting.push(
        db
          .putItem({ TableName: TABLE, Item: { PK: { S: `item-${nth % items}` }, nth: { N: String(nth) } } })
          .then(() => void answered.set(String(nth), performance.now())),
      )
    }
    await Promise.all(putting)
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    stopping.abort()
    await reading.ended
    await db.deleteTable({ TableName: TABLE })
    return delays
  } finally {
    db.destroy()
    streams.destroy()
  }
}

interface FollowOptions {
  readonly signal: AbortSignal
  readonly onRecord: (nth: string) => void
}

const follow = async (
  streams: DynamoDBStreams,
  arn: string,
  { signal, onRecord }: FollowOptions,
): Promise<{ readonly ended: Promise<void> }> => {
  const { StreamDescription: stream } = await streams.describeStream({ StreamArn: arn })
  const begin = async (id: string): Promise<string | undefined> =>
    (await streams.getShardIterator({ StreamArn: arn, ShardId: id, ShardIteratorType: 'LATEST' })).ShardIterator
  const iterators = await Promise.all((stream?.Shards ?? []).map(({ ShardId = '' }) => begin(ShardId)))
  const readAll = async (): Promise<number> => {
    const found = await Promise.all(
      iterators.map(async (iterator, index) => {
        const { Records = [], NextShardIterator } =
          iterator === undefined ? {} : await streams.getRecords({ ShardIterator: iterator })
        iterators[index] = NextShardIterator
        for (const { dynamodb } of Records) onRecord(dynamodb?.NewImage?.['nth']?.N ?? '')
        return Records.length
      }),
    )
    return found.reduce((sum, count) => sum + count, 0)
  }
  const loop = async (): Promise<void> => {
    while (!signal.aborted) if ((await readAll()) === 0) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
  return { ended: loop() }
}
