import { Fault } from '../../schemas/fault.ts'
import type { Listen } from '../config/variables.ts'

/**
 * The fault for an address on which this process cannot listen. Returns `error` itself if its cause is not the address. `name`: the variable or
 * the option that selects the address.
 */
export const cannotListen = (error: unknown, { host, port }: Listen, name: string): unknown => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EADDRINUSE')
    return new Fault(
      'port-in-use',
      `Another program listens on ${host}:${port}. Stop it, or select another address with ${name}.`,
      { cause: error },
    )
  if (code === 'EACCES' || code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new Fault(
      'cannot-listen',
      `This process may not listen on ${host}:${port} (${String(code)}). Select an address of this machine and a port above 1023 with ${name}.`,
      { cause: error },
    )
  }
  return error
}
