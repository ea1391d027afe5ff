import { parseArgs } from 'node:util'
import { startTimestreamLocal } from './server.ts'

const USAGE = `timestream-local: the wire protocol of Amazon Timestream for LiveAnalytics on this machine.

  --port N     the port to listen on; 0 selects a free port. Default: 8087
  --host H     the address to listen on. Default: 127.0.0.1
  --data DIR   the folder of the data. Default: in memory
  --help       show this help

Configure an AWS SDK with the endpoint http://127.0.0.1:8087, any region and any credentials.`

const options = () => {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '8087' },
      host: { type: 'string', default: '127.0.0.1' },
      data: { type: 'string' },
      help: { type: 'boolean' },
    },
  })
  const port = Number(values.port)
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new Error(`--port must be a number from 0 to 65535, not ${values.port}`)
  return {
    help: values.help === true,
    port,
    host: values.host,
    ...(values.data !== undefined && { data: values.data }),
  }
}

const main = async (): Promise<void> => {
  const { help, ...settings } = options()
  if (help) {
    console.log(USAGE)
    return
  }
  const server = await startTimestreamLocal(settings)
  console.log(
    `timestream-local listens on ${server.endpoint}, ${settings.data === undefined ? 'in memory' : `in ${settings.data}`}`,
  )
  const stop = () => void server.close().then(() => process.exit(0))
  process.once('SIGINT', stop).once('SIGTERM', stop)
}

main().catch((error: unknown) => {
  console.error(`timestream-local: ${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`)
  process.exit(1)
})
