import { describe } from 'vitest'
import { testMistakes } from './catching.ts'
import { EMBEDDED } from './embedded.ts'
import { KAFKA_APPEND, KAFKA_GROUP } from './services.ts'

describe('planted bugs of the adapters', () => testMistakes({ ...EMBEDDED, ...KAFKA_APPEND, ...KAFKA_GROUP }))
