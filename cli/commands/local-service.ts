import type { LocalService, RunningService } from '../../domains/record.ts'
import { cannotListen } from '../../host/serving/listen.ts'
import type { UnloadedContext } from '../context.ts'
import { EXIT, type Exit } from '../output.ts'
import { untilAborted } from '../until-aborted.ts'

export interface LocalServiceOptions {
  readonly service: LocalService
  readonly port: number
}

/** Runs a stand-in for an outside service until the command is interrupted. Prints its variables as lines that a shell can evaluate. */
export const runLocalService = async (
  { output, signal }: UnloadedContext,
  { service, port }: LocalServiceOptions,
): Promise<Exit> => {
  const { url, variables, stop } = await started(service, port)
  output.note(`${service.name} listens on ${url} until it is stopped. Start a server with these variables:`)
  for (const [name, value] of Object.entries(variables)) output.line(`export ${name}=${quoted(value)}`)
  await untilAborted(signal)
  await stop()
  return EXIT.fine
}

const started = async (service: LocalService, port: number): Promise<RunningService> => {
  try {
    return await service.start({ port })
  } catch (error) {
    throw cannotListen(error, { host: '127.0.0.1', port }, '--port')
  }
}

/** A text in single quotes, as shells read it. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
