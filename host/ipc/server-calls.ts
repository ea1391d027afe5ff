import type { Socket } from 'node:net'
import { Fault } from '../../schemas/fault.ts'
import { connectToServer } from '../folder/folder.ts'
import type { ArgsOf, OperationName, Perform, RowOf } from './operations.ts'
import { sendRequest, streamRows } from './socket.ts'

/** Returns a function that sends one operation to the server at the other end of the connection, and resolves to the result. */
export const callServer =
  (socket: Socket): Perform =>
  (name, args, output) =>
    sendRequest(socket, { name, args }, output)

/** Yields the rows of one operation of the server. The server waits while the caller takes no rows. */
export const streamFromServer = <N extends OperationName>(
  socket: Socket,
  name: N,
  args: ArgsOf<N>,
): AsyncIterable<RowOf<N>> => streamRows<RowOf<N>>(socket, { name, args })

/** Connects to the server that has the folder. Fault: `server-gone` if no server has the folder any more. */
export const requireServer = async (folder: string): Promise<Socket> => {
  const socket = await connectToServer(folder)
  if (socket !== undefined) return socket
  throw new Fault('server-gone', 'The running server ended meanwhile. Repeat the command.', { retriable: true })
}
