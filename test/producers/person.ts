import type { MemoryEdge } from '../../testing/edge/edge.ts'
import { send, type EdgeRequest } from '../../testing/edge/request.ts'

/** Functions that send requests with a token of one person. */
export const as = async (edge: Pick<MemoryEdge, 'app' | 'token'>, user: string) => {
  const token = await edge.token(user)
  const getPath = (url: string, headers?: Record<string, string>) =>
    send(edge.app, { url, token, ...(headers ? { headers } : {}) })
  const sendCommand = (
    method: EdgeRequest['method'] & string,
    url: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => send(edge.app, { method, url, token, body, ...(headers ? { headers } : {}) })
  return { token, getPath, sendCommand }
}

export type Person = Awaited<ReturnType<typeof as>>
