import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { kafkaLogs } from '../../../processors/adapters/kafka/logs.ts'
import type { KafkaOptions } from '../../../processors/adapters/kafka/options.ts'
import { isFault } from '../../../schemas/fault.ts'
import { text } from '../../contracts/listener.ts'
import { all, numbered } from '../../contracts/log-records.ts'
import { describeWith } from '../available.ts'
import { freePort } from '../kafka-node.ts'
import { kafkaAvailable, startKafka, type KafkaHandle } from '../kafka.ts'

const username = 'alice'
const password = 'a-secret-of-hers'

describeWith('Kafka behind a login', kafkaAvailable(), () => {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-secure-'))
  let kafka: KafkaHandle
  let plain: string[]
  let encrypted: string[]
  let certificate: string
  beforeAll(async () => {
    certificate = createCertificate(folder)
    const ports = { SASL_PLAINTEXT: await freePort(), SASL_SSL: await freePort() }
    plain = [`127.0.0.1:${ports.SASL_PLAINTEXT}`]
    encrypted = [`127.0.0.1:${ports.SASL_SSL}`]
    kafka = await startKafka({
      listeners: ports,
      format: ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => [
        '--add-scram',
        `${mechanism}=[name=${username},password=${password}]`,
      ]),
      properties: securityProperties(folder),
    })
    // Waits for the other listeners, because `startKafka` waits for the main listener only.
    for (const port of Object.values(ports)) await vi.waitFor(() => opens(port), { timeout: 30_000 })
  })
  afterAll(async () => {
    await kafka?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const opens = (port: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port }, () => {
        socket.destroy()
        resolve()
      })
      socket.once('error', reject)
    })

  const writeAndRead = async (options: KafkaOptions): Promise<string[]> => {
    const logs = kafkaLogs(options)
    try {
      const log = await logs.open(`secure-${randomUUID()}`)
      await log.append(numbered('k', 3))
      return (await all(log.readKey('k'))).map(text)
    } finally {
      await logs.close()
    }
  }

  test.each(['plain', 'scram-sha-256', 'scram-sha-512'] as const)(
    'a login by %s opens the log and reads its identity',
    async (mechanism) => {
      expect(await writeAndRead({ brokers: plain, sasl: { mechanism, username, password } })).toEqual(['0', '1', '2'])
    },
  )

  test('a login over TLS opens the log', async () => {
    const sasl = { mechanism: 'scram-sha-512', username, password } as const
    expect(await writeAndRead({ brokers: encrypted, ssl: { ca: [certificate] }, sasl })).toEqual(['0', '1', '2'])
  })

  test.each(['plain', 'scram-sha-512'] as const)(
    'a login by %s with a wrong password fails, and the message contains the user but not the password',
    async (mechanism) => {
      const logs = kafkaLogs({ brokers: plain, sasl: { mechanism, username, password: 'wrong one' } })
      const error: unknown = await logs.open('secure').catch((reason: unknown) => reason)
      await logs.close()
      expect(isFault(error, 'log-login-failed')).toBe(true)
      expect(String(error)).toContain(username)
      expect(String(error)).not.toContain('wrong one')
    },
  )

  test('a certificate of an unknown authority is rejected', async () => {
    const logs = kafkaLogs({ brokers: encrypted, ssl: true, sasl: { mechanism: 'plain', username, password } })
    const error: unknown = await logs.open('secure').catch((reason: unknown) => reason)
    await logs.close()
    expect(isFault(error, 'log-unavailable') && error.message).toMatch(/certificate/)
  })
})

function keytool(...args: string[]): string {
  const run = spawnSync('keytool', args, { encoding: 'utf8' })
  if (run.status !== 0) throw new Error(`keytool ${args[0]}: ${run.stdout}${run.stderr}`)
  return run.stdout
}

/** Creates a certificate in the store `keys.p12` and returns it as PEM for clients. */
function createCertificate(folder: string): string {
  const store = [
    '-alias',
    'broker',
    '-keystore',
    join(folder, 'keys.p12'),
    '-storetype',
    'PKCS12',
    '-storepass',
    'changeit',
  ]
  keytool(
    '-genkeypair',
    ...store,
    '-keyalg',
    'EC',
    '-dname',
    'CN=127.0.0.1',
    '-ext',
    'SAN=IP:127.0.0.1',
    '-validity',
    '2',
  )
  return keytool('-exportcert', '-rfc', ...store)
}

function securityProperties(folder: string): Record<string, string> {
  const modules = 'org.apache.kafka.common.security'
  const perListener = ['sasl_plaintext', 'sasl_ssl'].flatMap((listener) => [
    [
      `listener.name.${listener}.plain.sasl.jaas.config`,
      `${modules}.plain.PlainLoginModule required user_${username}="${password}";`,
    ],
    [`listener.name.${listener}.scram-sha-256.sasl.jaas.config`, `${modules}.scram.ScramLoginModule required;`],
    [`listener.name.${listener}.scram-sha-512.sasl.jaas.config`, `${modules}.scram.ScramLoginModule required;`],
  ])
  return {
    'sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
    'ssl.keystore.type': 'PKCS12',
    'ssl.keystore.location': join(folder, 'keys.p12'),
    'ssl.keystore.password': 'changeit',
    ...Object.fromEntries(perListener),
  }
}
