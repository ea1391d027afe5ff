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
