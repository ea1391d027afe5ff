import { createServer, type AddressInfo } from 'node:net'
import { Aedes } from 'aedes'

/** A broker that does only the necessary work: it receives a message, passes it to one subscriber, and acknowledges it. */
const broker = await Aedes.createBroker({ maxInflightInbound: 42 })
broker.subscribe(
  'scale-sense/#',
  (_packet, done) => done(),
  () => undefined,
)
const server = createServer((socket) => {
  socket.setNoDelay(true)
  broker.handle(socket)
})
server.listen(0, '127.0.0.1', () =>
  process.stdout.write(`mqtt://127.0.0.1:${(server.address() as AddressInfo).port}\n`),
)
