import { locOf, tapOf } from '../domains/scales/benchmark-events.ts'
import { makeToken, type Server } from './servers.ts'

export interface Device {
  readonly id: string
  readonly loc: string
  /** The token of this device. */
  readonly password: string
}

/** Returns a function that sends requests as one person. An error answer ends the benchmark. */
export const requesterFor =
  (url: string, token: string) =>
  async (method: string, path: string, body: unknown): Promise<Record<string, unknown>> => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`${method} ${path}: the answer is ${answer.status}: ${await answer.text()}`)
    return (await answer.json()) as Record<string, unknown>
  }

const TAPS = 10
const PARALLEL = 10

/** Sets up devices over HTTP, as the owner of a bar does: claims each device, assigns it to its tap and creates its token. */
export const openBars = async (
  server: Server,
  env: Readonly<Record<string, string>>,
  devices: number,
): Promise<{ readonly token: string; readonly devices: readonly Device[] }> => {
  const token = await makeToken(env, 'bench', 'scales')
  const request = requesterFor(server.url, token)
  const open = async (index: number): Promise<Device> => {
    const [id, loc] = [`scale-${index}`, locOf(Math.floor(index / TAPS))]
    await request('POST', `/v1/locations/${loc}/devices`, { device_id: id })
    await request('PUT', `/v1/locations/${loc}/taps/${tapOf(index % TAPS)}/device`, { device_id: id })
    const { token: password } = await request('POST', `/v1/locations/${loc}/devices/${id}/tokens`, {})
    return { id, loc, password: String(password) }
  }
  const opened: Device[] = []
  for (let index = 0; index < devices; index += PARALLEL)
    opened.push(
      ...(await Promise.all(
        Array.from({ length: Math.min(PARALLEL, devices - index) }, (_, nth) => open(index + nth)),
      )),
    )
  return { token, devices: opened }
}
