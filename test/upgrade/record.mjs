// Records the fixture of a release: node test/upgrade/record.mjs CHECKOUT FOLDER [BROKERS DYNAMODB_URL]
// CHECKOUT is a built checkout of that release. Without BROKERS and DYNAMODB_URL, the script runs the release embedded and records its data folder
// in folder.json.gz. With them, it runs the release on these services and records their topics and tables in services.json.gz.
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { gzipSync } from 'node:zlib'
import { readServices } from './services.mjs'
import { readsOf, sendRequests, USERS } from './requests.mjs'

const [checkout, folder, brokers, dynamodb] = process.argv.slice(2)
const program = join(checkout, 'bin', 'tributary.js')
const data = mkdtempSync(join(tmpdir(), 'tributary-record-'))
const services = brokers === undefined ? {} : { TRIBUTARY_KAFKA: brokers, TRIBUTARY_KAFKA_PARTITIONS: '2', TRIBUTARY_DYNAMODB: dynamodb }
const env = { ...process.env, TRIBUTARY_DATA: data, TRIBUTARY_HTTP: '127.0.0.1:0', TRIBUTARY_ADMIN: '127.0.0.1:0', TRIBUTARY_MQTT: 'off', TRIBUTARY_LOG_LEVEL: 'warn', AWS_REGION: 'local', AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local', ...services }

const command = (...args) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`tributary ${args.join(' ')} ended with ${status}: ${stderr}`)
  return stdout.trim()
}

const server = spawn(process.execPath, [program, 'start'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
const ended = new Promise((done) => server.once('exit', done))
process.once('exit', () => server.kill('SIGKILL'))
let url = ''
for await (const line of createInterface({ input: server.stdout })) {
  url = /listens on (http:\S+)/.exec(line)?.[1] ?? url
  if (line.startsWith('a first token')) break
}

const tokens = Object.fromEntries(Object.entries(USERS).map(([user, domain]) => [user, command('token', 'create', '--user', user, '--domain', domain)]))
const send = async (user, method, path, body) => {
  const response = await fetch(`${url}${path}`, { method, headers: { authorization: `Bearer ${tokens[user]}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
  const text = await response.text()
  return { status: response.status, body: text === '' ? null : JSON.parse(text) }
}
const ids = await sendRequests(send)
command('forget', '--subject', 'zoe', '--yes')
command('rebuild', 'meals', '--yes')
command('verify')
const answers = []
for (const [user, path] of readsOf(ids)) {
  const { status, body } = await send(user, 'GET', path)
  answers.push({ user, path, status, body })
}
server.kill('SIGTERM')
await ended

mkdirSync(folder, { recursive: true })
const write = (name, content) => writeFileSync(join(folder, name), gzipSync(JSON.stringify(content), { level: 9 }))
const filesIn = (path) => readdirSync(path, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
if (brokers === undefined) {
  const files = Object.fromEntries(filesIn(data).map((file) => [relative(data, file), readFileSync(file).toString('base64')]))
  write('folder.json.gz', { tokens, answers, files })
} else {
  write('services.json.gz', { tokens, answers, ...(await readServices(brokers, dynamodb)) })
}
rmSync(data, { recursive: true })
console.log(`${answers.length} answers recorded: ${JSON.stringify(Object.groupBy ? Object.fromEntries(Object.entries(Object.groupBy(answers, ({ status }) => status)).map(([status, list]) => [status, list.length])) : answers.map(({ status }) => status))}`)
