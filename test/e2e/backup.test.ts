import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { client, freshFolder, meal, newToken, run, startServer, runOk, type Client, type Env } from './program.ts'

const parts = () => {
  const root = freshFolder()
  return {
    data: { TRIBUTARY_DATA: join(root, 'data') },
    restored: { TRIBUTARY_DATA: join(root, 'restored') },
    folder: join(root, 'backup'),
    keys: join(root, 'keys'),
  }
}
const backUp = (env: Env, folder: string, keys: string) => run(['backup', folder, '--keys', keys], env)
const restore = (env: Env, folder: string, keys: string) => run(['restore', folder, '--keys', keys], env)

/** Posts meals on four connections until the test stops it. Collects the ids of the acknowledged meals. */
const startLoad = (user: Client) => {
  const acknowledged: string[] = []
  let isStopped = false
  let next = 0
  const post = async (): Promise<void> => {
    while (!isStopped) {
      const { status, body } = await user.post('/v1/meals', meal(next++))
      expect(status).toBe(201)
      acknowledged.push(String(body['id']))
    }
  }
  const posting = Promise.all([post(), post(), post(), post()])
  const stop = async (): Promise<void> => {
    isStopped = true
    await posting
  }
  return { acknowledged, stop }
}

const idsOf = async (user: Client): Promise<readonly string[]> => {
  const ids: string[] = []
  for (let cursor = ''; ;) {
    const { body } = await user.get(`/v1/meals?day=2026-11-16&limit=100${cursor}`)
    ids.push(...(body['items'] as readonly { readonly id: string }[]).map(({ id }) => id))
    if (body['cursor'] === undefined) return ids
    cursor = `&cursor=${String(body['cursor'])}`
  }
}

describe('backup and restore of an embedded folder', { timeout: 180_000 }, () => {
  test('a backup under load contains every event acknowledged before its start', async () => {
    const { data, restored, folder, keys } = parts()
    const server = await startServer(data)
    const token = await newToken(data, 'ann')
    const bar = client(server.url, await runOk(['token', 'create', '--user', 'bar', '--domain', 'scales'], data))
    expect((await bar.post('/v1/locations/loc-1/devices', { device_id: 'SCALE-1' })).status).toBe(201)
    expect(
      (await bar.post('/v1/devices/SCALE-1/readings', { boot: 'b1', readings: [{ seq: 1, weight_lbs: 90 }] })).status,
    ).toBeLessThan(300)
    const load = startLoad(client(server.url, token))
    await expect.poll(() => load.acknowledged.length, { timeout: 60_000 }).toBeGreaterThan(40)
    const before = [...load.acknowledged]
    expect(await backUp(data, folder, keys)).toMatchObject({ code: 0 })
    await load.stop()
    expect(load.acknowledged.length).toBeGreaterThan(before.length)
    await server.stop()

    expect(await restore(restored, folder, keys)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('0 differ'),
    })
    const again = await startServer(restored)
    const ids = new Set(await idsOf(client(again.url, token)))
    expect(before.filter((id) => !ids.has(id))).toEqual([])
    expect((await client(again.url, token).post('/v1/meals', meal(1))).status).toBe(201)
    expect(await run(['verify'], restored)).toMatchObject({ code: 0 })
  })

  test('the backup of the folder contains no key, and only the owner can open both folders', async () => {
    const { data, folder, keys } = parts()
    const server = await startServer(data)
    await client(server.url, await newToken(data, 'ann')).post('/v1/meals', meal(1))
    expect(await backUp(data, folder, keys)).toMatchObject({ code: 0 })
    const names = readdirSync(folder, { recursive: true }).map(String)
    expect(names.filter((name) => name.includes('people'))).toEqual([])
    expect(readFileSync(join(keys, 'people.jsonl'), 'utf8')).toContain('"of":"ann"')
    for (const each of [folder, keys]) expect(statSync(each).mode & 0o077).toBe(0)
  })

  test('works without a server, too', async () => {
    const { data, restored, folder, keys } = parts()
    await newToken(data, 'ann')
    expect(await backUp(data, folder, keys)).toMatchObject({ code: 0 })
    expect(await restore(restored, folder, keys)).toMatchObject({ code: 0 })
    expect(await runOk(['token', 'list', '--user', 'ann'], restored)).toContain('command line')
  })

  test('restore rejects a damaged, cut or unfinished backup and writes nothing', async () => {
    const { data, restored, folder, keys } = parts()
    await newToken(data, 'ann')
    expect(await backUp(data, folder, keys)).toMatchObject({ code: 0 })
    const refused = async (code: string): Promise<void> => {
      expect(await restore(restored, folder, keys)).toMatchObject({ code: 1, stderr: expect.stringContaining(code) })
      expect(existsSync(restored.TRIBUTARY_DATA)).toBe(false)
    }
    const log = join(folder, 'log', 'data.mdb')
    const whole = readFileSync(log)
    truncateSync(log, whole.length - 4096)
    await refused('backup-damaged')
    writeFileSync(log, whole)
    const flipped = Buffer.from(whole)
    flipped[5000] = (flipped[5000] ?? 0) ^ 1
    writeFileSync(log, flipped)
    await refused('backup-damaged')
    writeFileSync(log, whole)
    appendFileSync(join(keys, 'people.jsonl'), '\n')
    await refused('backup-damaged')
    rmSync(join(folder, 'backup.json'))
    await refused('backup-incomplete')
  })

  test('restore rejects a folder in use, a folder with data, and folders that contain each other', async () => {
    const { data, folder, keys } = parts()
    const server = await startServer(data)
    expect(await backUp(data, folder, join(folder, 'keys'))).toMatchObject({ code: 2 })
    expect(await backUp(data, join(data.TRIBUTARY_DATA, 'backup'), keys)).toMatchObject({ code: 2 })
    expect(await backUp(data, folder, keys)).toMatchObject({ code: 0 })
    expect(await backUp(data, folder, keys)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('backup-folder-not-empty'),
    })
    expect(await restore(data, folder, keys)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('data-folder-in-use'),
    })
    await server.stop()
    expect(await restore(data, folder, keys)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('restore-not-empty'),
    })
  })

  test('a person forgotten after the backup stays forgotten after a restore with the newest keys', async () => {
    const { data, restored, folder, keys } = parts()
    const server = await startServer(data)
    const [ann, bob] = [await newToken(data, 'ann'), await newToken(data, 'bob')]
    for (const token of [ann, bob])
      expect(
        (await client(server.url, token).post('/v1/meals', { ...meal(1), mealSummary: 'Secret soup' })).status,
      ).toBe(201)
    expect(await backUp(data, folder, keys)).toMatchObject({ code: 0 })
    await runOk(['forget', '--subject', 'ann', '--yes'], data)
    const newest = { folder: `${folder}-2`, keys: `${keys}-2` }
    expect(await backUp(data, newest.folder, newest.keys)).toMatchObject({ code: 0 })
    await server.stop()

    expect(await restore(restored, folder, newest.keys)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('People were forgotten after this backup'),
    })
    const older = { TRIBUTARY_DATA: `${restored.TRIBUTARY_DATA}-older` }
    expect(await restore(older, newest.folder, keys)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('restore-keys-older'),
    })
    const again = await startServer(restored)
    const summaries = async (token: string): Promise<unknown> =>
      (await client(again.url, token).get('/v1/meals?day=2026-11-16')).body['items']
    expect(await summaries(bob)).toMatchObject([{ mealSummary: 'Secret soup' }])
    expect(JSON.stringify(await summaries(ann))).not.toContain('Secret soup')
    await again.stop()
  })
})
