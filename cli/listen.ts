import { Fault } from '../schemas/fault.ts'
import type { Listen } from './variables.ts'

/** What to tell of a port that could not be had; `name` is the variable that chose it. */
export const cannotListen = (error: unknown, { host, port }: Listen, name: string): unknown => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EADDRINUSE') return new Fault('port-in-use', `Another program listens on ${host}:${port}. Stop it, or set ${name} to another address.`, { cause: error })
  if (code === 'EACCES' || code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new Fault('cannot-listen', `This process may not listen on ${host}:${port} (${String(code)}). Set ${name} to an address of this machine and a port above 1023.`, { cause: error })
  }
  return error
}
