/** Calls the control API of the loopback Strava: `control('POST', '/athletes', {…})`. Throws if the answer is not a success. */
export type StravaControl = (method: string, path: string, body?: object) => Promise<unknown>

/** `origin`: the address of the loopback Strava, without a path. */
export const stravaControl =
  (origin: string): StravaControl =>
  async (method, path, body) => {
    const answer = await fetch(`${origin}/control${path}`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`The loopback Strava answered ${answer.status} to ${method} ${path}: ${text}`)
    return text === '' ? {} : JSON.parse(text)
  }

/** Connects a person with an athlete as a browser does. `get` sends a request of the person. The result: false if the person is connected already. */
export const connectAthlete = async (
  control: StravaControl,
  athlete: string,
  get: (path: string) => Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> }>,
): Promise<boolean> => {
  const asked = await get('/strava/connect')
  if (asked.status === 409) return false
  const { location } = (await control('POST', '/consent', { athlete, url: asked.body['url'] })) as { location: string }
  const { pathname, search } = new URL(location)
  const { status, body } = await get(pathname + search)
  if (status !== 201) throw new Error(`The athlete ${athlete} was not connected: ${status} ${JSON.stringify(body)}`)
  return true
}
