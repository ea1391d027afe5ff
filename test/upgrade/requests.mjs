// The requests whose results a recorded fixture contains. They use every domain, and create every kind of item that a release stores.

/** @typedef {(user: string, method: string, path: string, body?: unknown) => Promise<{ status: number, body: any }>} Send */

export const USERS = { ann: 'meals', zoe: 'meals', bar: 'scales', mate: 'scales', 101: 'expenses', 102: 'expenses', 103: 'expenses', 104: 'expenses' }

/** Sends the requests in order. Returns the ids that `readsOf` needs. Throws if a request is refused. */
export const sendRequests = async (/** @type {Send} */ send) => {
  const ok = async (...request) => {
    const { status, body } = await send(...request)
    if (status >= 300) throw new Error(`${request.slice(0, 3).join(' ')} answered ${status}: ${JSON.stringify(body)}`)
    return body
  }
  return { ...(await meals(ok)), ...(await scales(ok)), ...(await expenses(ok)) }
}

const meal = (hour, calories, more = {}) => ({
  mealSummary: `Meal of ${calories}`, eatenAt: `2026-11-1${hour % 3}T${String(hour).padStart(2, '0')}:15:00Z`, tz: 'Europe/Prague', calories, protein: 10.125, carbs: 20, fat: 5.5, ...more,
})

const meals = async (ok) => {
  await ok('ann', 'PATCH', '/v1/targets', { calories: 2000, protein: 120, effectiveFromDate: '2026-11-01' })
  await ok('ann', 'PUT', '/v1/nutrients/fiber', { unit: 'g', goal: 30 })
  const ids = []
  for (const hour of [6, 7, 8, 12, 18, 19]) ids.push((await ok('ann', 'POST', '/v1/meals', meal(hour, 300 + hour, { extendedNutrients: { fiber: 4 }, notes: 'with water', emoji: '🥣' }))).id)
  await ok('ann', 'PATCH', `/v1/meals/${ids[0]}`, { calories: 280, reason: 'a smaller bowl' })
  await ok('ann', 'DELETE', `/v1/meals/${ids[1]}`)
  await ok('ann', 'DELETE', `/v1/meals/${ids[2]}`)
  await ok('ann', 'POST', `/v1/meals/${ids[2]}/restore`)
  const token = await ok('ann', 'POST', '/v1/tokens', { name: 'watch', scopes: ['read'] })
  await ok('ann', 'DELETE', `/v1/tokens/${token.id}`)
  await ok('zoe', 'POST', '/v1/meals', meal(9, 450))
  return { meal: ids[0], restored: ids[2] }
}

const scales = async (ok) => {
  const at = (minute) => new Date(Date.parse('2026-11-10T18:00:00Z') + minute * 60_000).toISOString()
  await ok('bar', 'POST', '/v1/beers', { name: 'Guinness Draught', style: 'Stout', specific_gravity: 1.014 })
  await ok('bar', 'POST', '/v1/locations/loc-1/devices', { device_id: 'SCALE-1' })
  await ok('bar', 'POST', '/v1/locations/loc-1/devices', { device_id: 'SCALE-2' })
  await ok('bar', 'PUT', '/v1/locations/loc-1/members/mate')
  await ok('bar', 'PATCH', '/v1/locations/loc-1/settings', { timezone: 'Europe/Prague', low_keg_pct: 20 })
  for (const tap of ['01', '02']) {
    await ok('bar', 'PUT', `/v1/locations/loc-1/taps/${tap}/device`, { device_id: `SCALE-${Number(tap)}`, since: at(-10) })
    await ok('bar', 'POST', `/v1/locations/loc-1/taps/${tap}/keg`, { beer_id: 'guinness-draught', keg_type: 'half_barrel', tapped_at: at(-5) })
  }
  await ok('bar', 'POST', '/v1/locations/loc-1/devices/SCALE-1/calibration', { factor: 1.01, offset: 0.2, at: at(-4) })
  await ok('bar', 'POST', '/v1/locations/loc-1/taps/01/tare', { kind: 'empty', value_lbs: 0.5, at: at(-3) })
  await ok('bar', 'POST', '/v1/locations/loc-1/devices/SCALE-1/tokens')
  await ok('mate', 'POST', '/v1/locations/loc-1/devices/SCALE-2/tokens')
  for (const [device, from] of [['SCALE-1', 150], ['SCALE-2', 60]]) {
    const readings = Array.from({ length: 24 }, (_, index) => ({ seq: index + 1, device_ts: at(index), weight_lbs: from - Math.floor(index / 6) * 1.5, level_pct: Math.round(from / 1.6) - index, battery_pct: 90 - index }))
    await ok('bar', 'POST', `/v1/devices/${device}/readings`, { boot: 'b1', readings })
  }
  const { items } = await ok('bar', 'GET', `/v1/locations/loc-1/pours?from=${at(-60)}&to=${at(600)}`)
  const { keg_id: keg } = await ok('bar', 'GET', '/v1/locations/loc-1/taps/01')
  return { keg, pours: items.length }
}

const expenses = async (ok) => {
  const { id } = await ok('101', 'POST', '/api/groups', { title: 'Roommates', currency: 'EUR', name: 'Ann' })
  const group = `/api/groups/${id}`
  for (const [user, name] of [['102', 'Bob'], ['103', 'Cyd'], ['104', 'Dan']]) await ok(user, 'POST', `${group}/join`, { name })
  const spend = (user, body) => ok(user, 'POST', `${group}/expenses`, body)
  const dinner = await spend('101', { amount: '100.01', description: 'Dinner', category: 'food', date: '2026-11-10T20:00:00Z' })
  const rent = await spend('102', { amount: '900.00', description: 'Rent', splitType: 'percentage', splits: [{ userId: '101', percentage: 50 }, { userId: '102', percentage: 25 }, { userId: '103', percentage: 25 }], date: '2026-11-11T08:00:00Z' })
  const taxi = await spend('103', { amount: '31.00', description: 'Taxi', splitType: 'exact', splits: [{ userId: '101', amount: '11.00' }, { userId: '104', amount: '20.00' }], date: '2026-11-12T08:00:00Z' })
  const gift = await spend('104', { amount: 40, description: 'Gift', currency: 'USD', splitType: 'shares', splits: [{ userId: '101', shares: 1 }, { userId: '102', shares: 3 }], date: '2026-11-12T09:00:00Z' })
  await ok('101', 'PUT', `${group}/expenses/${dinner.id}`, { amount: '110.01', description: 'Dinner and drinks', revision: 1 })
  await ok('103', 'DELETE', `${group}/expenses/${taxi.id}`)
  await ok('103', 'POST', `${group}/expenses/${taxi.id}/restore`)
  await ok('104', 'DELETE', `${group}/expenses/${gift.id}`)
  const paid = await ok('101', 'POST', `${group}/settlements`, { toUserId: '102', amount: '50.00', currency: 'EUR' })
  await ok('102', 'PUT', `${group}/settlements/${paid.id}`, { status: 'completed' })
  const open = await ok('103', 'POST', `${group}/settlements`, { toUserId: '102', amount: '5.00', currency: 'EUR' })
  const byHash = await ok('103', 'POST', `${group}/settlements`, { toUserId: '102', amount: '2', currency: 'TON' })
  await ok('103', 'PUT', `${group}/settlements/${byHash.id}`, { status: 'completed', txHash: 'ab'.repeat(32) })
  await ok('104', 'POST', `${group}/leave`)
  return { group, dinner: dinner.id, rent: rent.id, paid: paid.id, open: open.id, byHash: byHash.id }
}

/** The GET requests, as pairs of user and path, to which a later release must return the recorded answers. */
export const readsOf = ({ meal: first, restored, keg, group, dinner, rent, paid, open, byHash }) => [
  ...['/v1/meals?from=2026-11-10&to=2026-11-13', `/v1/meals/${first}`, `/v1/meals/${restored}`, '/v1/summaries?from=2026-11-10&to=2026-11-13', '/v1/days-logged?from=2026-11-01&to=2026-11-30', '/v1/targets', '/v1/tokens'].map((path) => ['ann', path]),
  ['zoe', '/v1/meals?from=2026-11-10&to=2026-11-13'],
  ...['/taps', '/taps/01', '/taps/02', `/kegs/${keg}`, '/pours?from=2026-11-10T00:00:00Z&to=2026-11-11T00:00:00Z', '/alerts', '/alerts/history', '/settings', '/members', '/devices', '/devices/SCALE-1', '/devices/SCALE-1/calibrations', '/devices/SCALE-1/tokens', '/taps/01/history?from=2026-11-10T17:00:00Z&to=2026-11-10T19:00:00Z', `/kegs/${keg}/lifespan`, '/pours/by-hour?from=2026-11-10T00:00:00Z&to=2026-11-11T00:00:00Z'].map((path) => ['bar', `/v1/locations/loc-1${path}`]),
  ['bar', '/v1/beers?search=draught'], ['mate', '/v1/locations/loc-1/taps/01'],
  ...['101', '102'].flatMap((user) => ['', '/expenses', `/expenses/${dinner}`, `/expenses/${dinner}/history`, `/expenses/${rent}`, '/activity', '/balances', '/balances?as-of=2026-11-11', '/debts', '/settlements', `/settlements/${paid}`, `/settlements/${open}`, `/settlements/${byHash}`, '/export'].map((path) => [user, `${group}${path}`])),
  ...['/api/groups', '/api/users/me', '/api/users/me/expenses', '/api/users/me/debts', '/api/users/me/settlements', '/api/users/me/activity', '/api/users/me/summary'].map((path) => ['101', path]),
  ['104', '/api/groups'], ['104', `${group}/balances`],
]
