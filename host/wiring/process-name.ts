import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'

/** A name for this run of this process, for leases and claims: the machine, the process id and a random part. */
export const createProcessName = (): string => `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`
