import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A TCP proxy on 127.0.0.1 that can hang: then it accepts connections and requests, and answers no request. */
export interface Proxy {
  readonly port: number
  hang(): void
  /** Ends the hang for new connections. Connections that were open during the hang get no answers, as after a network failure. */
  recover(): void
  stop(): Promise<void>
}

export const startProxy = async (target: number): Promise<Proxy> => {
  const sockets = new Set<Socket>()
  const pairs = new Set<readonly [Socket, Socket]>()
  let isHanging = false
  const track = (socket: Socket): Socket => {
    sockets.add(socket)
    return socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket))
  }
  const server = createServer((client) => {
    track(client)
    if (isHanging) return void client.resume()
    const service = track(connect(target, '127.0.0.1'))
    const pair = [client, service] as const
    pairs.add(pair)
    client.pipe(service)
    service.pipe(client)
    for (const socket of pair)
      socket.on('close', () => {
        pairs.delete(pair)
        for (const end of pair) end.destroy()
      })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    port: (server.address() as AddressInfo).port,
    hang() {
      isHanging = true
      for (const [client, service] of pairs) {
        client.unpipe(service).resume()
        service.unpipe(client).resume()
      }
      pairs.clear()
    },
    recover: () => void (isHanging = false),
    async stop() {
      const closed = new Promise((done) => server.close(done))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
