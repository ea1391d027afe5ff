import { Kafka, logLevel } from 'kafkajs'
import { kafkaLogs } from '../../../processors/adapters/kafka/logs.ts'
import { logContract } from '../../contracts/log.ts'
import { describeWith } from '../available.ts'
import { kafkaAvailable, sharedKafka } from '../kafka.ts'

describeWith('Kafka', kafkaAvailable(), () => {
  logContract('Kafka', async () => {
    const { brokers } = await sharedKafka()
    let logs = kafkaLogs({ brokers })
    const admin = new Kafka({ brokers, logLevel: logLevel.NOTHING }).admin()
    await admin.connect()
    return {
      logs,
      async reopen() {
        await logs.close()
        logs = kafkaLogs({ brokers })
        return logs
      },
      async trim(topic, partition, before) {
        // Loads the metadata of the topic, because kafkajs deletes records only from topics whose metadata is loaded.
        await admin.fetchTopicOffsets(topic)
        await admin.deleteTopicRecords({ topic, partitions: [{ partition, offset: String(before) }] })
      },
      async cleanup() {
        await logs.close()
        await admin.disconnect()
      },
    }
  })
})
