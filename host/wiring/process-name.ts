import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'

/** Who holds a lease, as people find it: the machine, the process, and one of its lives. */
export const createProcessName = (): string => `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`
