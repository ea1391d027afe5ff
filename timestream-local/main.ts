import { parseArgs } from 'node:util'
import { startTimestreamLocal } from './server.ts'

const USAGE = `timestream-local: the wire protocol of Amazon Timestream for LiveAnalytics on this machine.

  --port N     where to listen (8087; 0 for any free port)
  --host H     on which address (127.0.0.1)
  --data DIR   keep everything in this folder (default: in memory)
  --help       this

Point an AWS SDK at it: endpoint http://127.0.0.1:8087, any region and credentials.`

const options = () => {
  const { values } = parseArgs({ options: { port: { type: 'string', default: '8087' }, host: { type: 'string', default: '127.0.0.1' }, data: { type: 'string' }, help: { type: 'boolean' } } })
  const port = Number(values.port)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error(`--port takes a number from 0 to 65535, not ${values.port}`)
  return { help: values.help === true, port, host: values.host, ...(values.data !== undefined && { data: values.data }) }
}

const main = async (): Promise<void> => {
  const { help, ...chosen } = options()
  if (help) {
    console.log(USAGE)
    return
  }
  const server = await startTimestreamLocal(chosen)
  console.log(`timestream-local listens on ${server.endpoint}, ${chosen.data === undefined ? 'in memory' : `in ${chosen.data}`}`)
  const stop = () => void server.close().then(() => process.exit(0))
  process.once('SIGINT', stop).once('SIGTERM', stop)
}

main().catch((error: unknown) => {
  console.error(`timestream-local: ${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`)
  process.exit(1)
})
