/** The scope without which private activities are missing. */
export const PRIVATE_SCOPE = 'activity:read_all'
const NEEDED = ['activity:read', PRIVATE_SCOPE]
/** The scopes that the program requests. An athlete who keeps private activities for themselves still grants `activity:read`. */
export const REQUESTED_SCOPES: readonly string[] = ['read', ...NEEDED]
const MOST = 20
const SCOPE = /^[a-z_]{1,40}(:[a-z_]{1,40})?$/

/** The granted scopes in a list of Strava, such as `read,activity:read`. Undefined if they do not allow to read activities. */
export const grantedScopes = (list: string): readonly string[] | undefined => {
  const scopes = [...new Set(list.split(/[ ,]+/).filter((scope) => SCOPE.test(scope)))].slice(0, MOST)
  return NEEDED.some((scope) => scopes.includes(scope)) ? scopes : undefined
}
