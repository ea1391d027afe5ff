import { expect, test } from 'vitest'
import { client, freshFolder, startServer, runOk } from './program.ts'

test('explain of a balance reads like a bank statement', { timeout: 120_000 }, async () => {
  const env = { TRIBUTARY_DATA: freshFolder() }
  const server = await startServer(env)
  const person = async (user: string) =>
    client(server.url, await runOk(['token', 'create', '--user', user, '--domain', 'expenses'], env))
  const [ann, bob] = [await person('ann'), await person('bob')]
  const group = `/api/groups/${String((await ann.post('/api/groups', { title: 'Trip', currency: 'EUR', name: 'Ann' })).body['id'])}`
  await bob.post(`${group}/join`, {
    invitation: (await ann.post(`${group}/invitations`, {})).body['secret'],
    name: 'Bob',
  })
  const dinner = `${group}/expenses/${String((await ann.post(`${group}/expenses`, { amount: 30, description: 'Dinner' })).body['id'])}`
  await ann.send('PUT', dinner, { revision: 1, amount: 40, description: 'Dinner', reason: 'the tip' })
  await bob.post(`${group}/expenses`, {
    amount: '12.50',
    description: 'Taxi',
    splitType: 'exact',
    splits: [{ userId: 'ann', amount: '12.50' }],
  })
  await ann.send('DELETE', dinner)
  await ann.send('POST', `${dinner}/restore`)
  const paid = `${group}/settlements/${String((await bob.post(`${group}/settlements`, { toUserId: 'ann', amount: '7.50', currency: 'EUR' })).body['id'])}`
  expect((await ann.send('PUT', paid, { status: 'completed' })).status).toBe(200)

  const statement = (columns: string): Promise<string> =>
    runOk(['explain', 'expenses', `GROUP#${group.split('/').at(-1)}`, 'BALANCE#EUR'], { ...env, COLUMNS: columns })
  const narrow = (await statement('80')).split('\n').slice(1, -2)
  expect(narrow[0]).toMatch(/^position +date +what +amount +member +change +balance$/)
  expect(narrow.filter((line) => line.length > 80)).toEqual([])
  const text = await statement('200')
  const lines = text
    .split('\n')
    .slice(1)
    .map((line) =>
      line
        .replace(/\d{4}-\d\d-\d\d \d\d:\d\d/, 'DATE')
        .replace(/^\d+:\d+ +/, '')
        .replace(/ {2,}/g, ' | ')
        .trim(),
    )
  expect(lines).toEqual([
    'position | date | what | amount | member | change | balance',
    'DATE | Ann paid: Dinner | 30.00 | Ann | +15.00 | 15.00',
    '| Bob | -15.00 | -15.00',
    'DATE | changed by Ann: Dinner (the tip) | 40.00 | Ann | +5.00 | 20.00',
    '| Bob | -5.00 | -20.00',
    'DATE | Bob paid: Taxi | 12.50 | Bob | +12.50 | -7.50',
    '| Ann | -12.50 | 7.50',
    'DATE | deleted by Ann: Dinner | 40.00 | Bob | +20.00 | 12.50',
    '| Ann | -20.00 | -12.50',
    'DATE | restored by Ann: Dinner | 40.00 | Ann | +20.00 | 7.50',
    '| Bob | -20.00 | -7.50',
    'DATE | Bob paid Ann back | 7.50 | Bob | +7.50 | 0.00',
    '| Ann | -7.50 | 0.00',
    '',
    'Everybody is settled in EUR.',
  ])
  const [, , first = ''] = text.split('\n')
  const then = await runOk(
    ['explain', 'expenses', `GROUP#${group.split('/').at(-1)}`, 'BALANCE#EUR', '--as-of', first.split(' ')[0] ?? ''],
    env,
  )
  expect(then.split('\n').at(-1)).toBe('EUR: Ann +15.00, Bob -15.00; together 0.00.')
})
