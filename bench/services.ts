export interface Services {
  readonly kafka: readonly string[]
  readonly dynamodb: string
  stop(): Promise<void>
}

/**
 * Returns the services that TRIBUTARY_KAFKA and TRIBUTARY_DYNAMODB name, if both are set. Otherwise starts Kafka and DynamoDB Local as plain
 * processes, which needs Java and Maven.
 */
export const startServices = async (): Promise<Services> => {
  const { TRIBUTARY_KAFKA: kafka, TRIBUTARY_DYNAMODB: dynamodb } = process.env
  if (kafka !== undefined && dynamodb !== undefined)
    return { kafka: kafka.split(','), dynamodb, stop: async () => undefined }
  process.stderr.write('  starting Kafka and DynamoDB Local on loopback …\n')
  const [{ startKafka }, { startDynamoDb }] = await Promise.all([
    import('../test/services/kafka.ts'),
    import('../test/services/dynamodb.ts'),
  ])
  const [broker, store] = await Promise.all([startKafka(), startDynamoDb()])
  const stop = async () => {
    await broker.stop()
    await store.stop()
  }
  return { kafka: broker.brokers, dynamodb: store.endpoint, stop }
}
