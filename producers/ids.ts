import { v5 } from 'uuid'

/** New ids, as a port: seeded in tests. */
export interface Ids {
  uuidv7(): string
}

// uuidv5 of the DNS name space and `tributary.producers`.
const NAMESPACE = v5('tributary.producers', v5.DNS)

/** The same parts always give the same id. Parts must not hold \0, which the edge refuses everywhere. */
export const derivedId = (...parts: readonly string[]): string => v5(parts.join('\u0000'), NAMESPACE)
