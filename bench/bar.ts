import { locOf, tapOf } from './readings.ts'
import { makeToken, type Server } from './servers.ts'

export interface Device {
  readonly id: string
  readonly loc: string
  /** Speaks for this device alone. */
  readonly password: string
}

/** Asks as one person; every answer that is no success ends the benchmark. */
export const asking = (url: string, token: string) => async (method: string, path: string, body: unknown): Promise<Record<string, unknown>> => {
  const answer = await fetch(`${url}${path}`, { method, headers: { 'authorization': `Bearer ${token}`, 'content-type': 'application/json' }, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${await answer.text()}`)
  return (await answer.json()) as Record<string, unknown>
}

const TAPS = 10
const AT_ONCE = 10

/** As an owner sets it up: each device claimed, under its tap, with a token. */
export const openBars = async (server: Server, env: Readonly<Record<string, string>>, devices: number): Promise<{ readonly token: string; readonly devices: readonly Device[] }> => {
  const token = await makeToken(env, 'bench', 'scales')
  const ask = asking(server.url, token)
  const open = async (index: number): Promise<Device> => {
    const [id, loc] = [`scale-${index}`, locOf(Math.floor(index / TAPS))]
    await ask('POST', `/v1/locations/${loc}/devices`, { device_id: id })
    await ask('PUT', `/v1/locations/${loc}/taps/${tapOf(index % TAPS)}/device`, { device_id: id })
    const { token: password } = await ask('POST', `/v1/locations/${loc}/devices/${id}/tokens`, {})
    return { id, loc, password: String(password) }
  }
  const opened: Device[] = []
  for (let index = 0; index < devices; index += AT_ONCE) opened.push(...(await Promise.all(Array.from({ length: Math.min(AT_ONCE, devices - index) }, (_, nth) => open(index + nth)))))
  return { token, devices: opened }
}
