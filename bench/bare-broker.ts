import { createServer, type AddressInfo } from 'node:net'
import { Aedes } from 'aedes'

/** What any broker must do, and nothing else: take the message, hand it to one subscriber, acknowledge. */
const broker = await Aedes.createBroker({ maxInflightInbound: 42 })
broker.subscribe('scale-sense/#', (_packet, done) => done(), () => undefined)
const server = createServer((socket) => {
  socket.setNoDelay(true)
  broker.handle(socket)
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`mqtt://127.0.0.1:${(server.address() as AddressInfo).port}\n`))
