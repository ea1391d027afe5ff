import { describeWith } from '../services/available.ts'
import { dynamodbAvailable } from '../services/dynamodb.ts'
import { kafkaAvailable } from '../services/kafka.ts'
import { testMistakes } from './catching.ts'
import { DYNAMODB, KAFKA } from './services.ts'

describeWith('planted bugs of the Kafka adapter', kafkaAvailable(), () => testMistakes(KAFKA))
describeWith('planted bugs of the DynamoDB adapter', dynamodbAvailable(), () => testMistakes(DYNAMODB))
