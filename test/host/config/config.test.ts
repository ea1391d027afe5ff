import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { requireTwoPorts, printConfig, readConfig } from '../../../host/config/config.ts'
import { createDomains } from '../../../domains/domains.ts'
import { OUR_RECORDS } from '../../../domains/list.ts'
import { isFault } from '../../../schemas/fault.ts'

const mistakesOf = (env: Record<string, string>): string => {
  try {
    readConfig(env)
  } catch (error) {
    if (isFault(error, 'bad-config')) return error.message
    throw error
  }
  throw new Error('the configuration was accepted')
}

describe('the configuration', () => {
  test('without any variable everything is embedded, on this machine only', () => {
    const config = readConfig({})
    expect(config).toMatchObject({
      http: { host: '127.0.0.1', port: 8080 },
      admin: { host: '127.0.0.1', port: 8081 },
      quota: { reads: null, writes: null },
    })
    expect(config.data).toMatch(/\/data$/)
    expect(config.kafka).toBeUndefined()
    expect(config.dynamodb).toBeUndefined()
    expect(config.series).toEqual({ kind: 'embedded' })
  })

  test('an OIDC issuer needs an audience and https, and keeps the slash at its end', () => {
    const audience = { TRIBUTARY_OIDC_AUDIENCE: 'tributary' }
    const issuerOf = (issuer: string) => readConfig({ TRIBUTARY_OIDC_ISSUER: issuer, ...audience }).oidc
    expect(issuerOf('https://id.example/')).toEqual({ issuer: 'https://id.example/', audience: 'tributary' })
    expect(issuerOf('http://127.0.0.1:9000')).toEqual({ issuer: 'http://127.0.0.1:9000', audience: 'tributary' })
    expect(readConfig({}).oidc).toBeUndefined()
    expect(mistakesOf({ TRIBUTARY_OIDC_ISSUER: 'https://id.example' })).toContain('go together')
    expect(mistakesOf(audience)).toContain('go together')
    for (const issuer of ['http://id.example', 'id.example', 'https://id.example?a=b', 'https://me@id.example'])
      expect(mistakesOf({ TRIBUTARY_OIDC_ISSUER: issuer, ...audience })).toContain('TRIBUTARY_OIDC_ISSUER')
  })

  test('the public address is an origin', () => {
    const publicUrl = 'https://tributary.example'
    expect(readConfig({ TRIBUTARY_PUBLIC_URL: publicUrl }).publicUrl).toBe(publicUrl)
    for (const wrong of [`${publicUrl}/`, `${publicUrl}/app`, 'tributary.example', 'ftp://tributary.example'])
      expect(mistakesOf({ TRIBUTARY_PUBLIC_URL: wrong })).toContain('TRIBUTARY_PUBLIC_URL is not an origin')
  })

  test('a token can send 6,000 requests per minute, unless the variable sets another limit or switches it off', () => {
    expect(readConfig({}).rateLimit).toBe(6_000)
    expect(readConfig({ TRIBUTARY_RATE_LIMIT: '100' }).rateLimit).toBe(100)
    expect(readConfig({ TRIBUTARY_RATE_LIMIT: 'off' }).rateLimit).toBeNull()
    expect(mistakesOf({ TRIBUTARY_RATE_LIMIT: '0' })).toContain('TRIBUTARY_RATE_LIMIT')
    expect(printConfig({})).toContain('TRIBUTARY_RATE_LIMIT is not set; default 6000')
  })

  test('a variable of a domain of ours that is not selected has no effect', () => {
    const [first] = OUR_RECORDS
    const meals = createDomains(first === undefined ? [] : [first])
    expect(readConfig({ TRIBUTARY_TON_API: 'not a URL' }, meals).edges).toEqual({})
    expect(mistakesOf({ TRIBUTARY_TON_API: 'not a URL' })).toContain('TRIBUTARY_TON_API')
    expect(() => readConfig({ TRIBUTARY_TON_APIS: 'x' }, meals)).toThrow('did you mean TRIBUTARY_TON_API?')
  })

  test('names Kafka, its security and DynamoDB', () => {
    const config = readConfig({
      TRIBUTARY_KAFKA: 'one:9092, two:9093',
      TRIBUTARY_KAFKA_PARTITIONS: '12',
      TRIBUTARY_KAFKA_SSL: 'on',
      TRIBUTARY_KAFKA_SASL_MECHANISM: 'scram-sha-512',
      TRIBUTARY_KAFKA_SASL_USERNAME: 'u',
      TRIBUTARY_KAFKA_SASL_PASSWORD: 'p',
      TRIBUTARY_DYNAMODB: 'http://127.0.0.1:8000',
    })
    expect(config.kafka).toEqual({
      brokers: ['one:9092', 'two:9093'],
      partitions: 12,
      ssl: true,
      sessionMs: 30_000,
      sasl: { mechanism: 'scram-sha-512', username: 'u', password: 'p' },
    })
    expect(config.dynamodb).toEqual({ endpoint: 'http://127.0.0.1:8000' })
    expect(readConfig({ TRIBUTARY_DYNAMODB: 'aws' }).dynamodb).toEqual({})
  })

  test('names the store of points; with Kafka and DynamoDB the default is DynamoDB', () => {
    const services = { TRIBUTARY_KAFKA: 'one:9092', TRIBUTARY_DYNAMODB: 'aws' }
    expect(readConfig(services).series).toEqual({ kind: 'dynamodb' })
    expect(readConfig({ ...services, TRIBUTARY_TIMESTREAM: 'aws' }).series).toEqual({ kind: 'timestream' })
    expect(readConfig({ TRIBUTARY_TIMESTREAM: 'http://127.0.0.1:8086' }).series).toEqual({
      kind: 'timestream',
      endpoint: 'http://127.0.0.1:8086',
    })
    expect(readConfig({ TRIBUTARY_DYNAMODB: 'aws', TRIBUTARY_TIMESTREAM: 'dynamodb' }).series).toEqual({
      kind: 'dynamodb',
    })
    expect(mistakesOf({ TRIBUTARY_TIMESTREAM: 'dynamodb' })).toContain('TRIBUTARY_DYNAMODB is not set')
  })

  test('devices connect to the built-in broker, to an outside broker, or not at all', () => {
    expect(readConfig({}).mqtt).toEqual({ listen: { host: '127.0.0.1', port: 1883 }, isExplicit: false })
    expect(readConfig({ TRIBUTARY_MQTT: '127.0.0.1:1883' }).mqtt).toEqual({
      listen: { host: '127.0.0.1', port: 1883 },
      isExplicit: true,
    })
    expect(readConfig({ TRIBUTARY_MQTT: 'off' }).mqtt).toBe('off')
    expect(
      readConfig({
        TRIBUTARY_MQTT: 'mqtts://broker:8884',
        TRIBUTARY_MQTT_USERNAME: 'u',
        TRIBUTARY_MQTT_PASSWORD: 'p',
        TRIBUTARY_MQTT_CLIENT_ID: 'edge-1',
        TRIBUTARY_MQTT_SHARE: 'bar',
      }).mqtt,
    ).toEqual({ join: { url: 'mqtts://broker:8884', username: 'u', password: 'p', clientId: 'edge-1', share: 'bar' } })
    for (const wrong of ['mqtt://', 'mqtt://h/topic', 'mqtt://u:p@h', 'ws://h', 'on'])
      expect(mistakesOf({ TRIBUTARY_MQTT: wrong }), wrong).toContain('TRIBUTARY_MQTT ')
    expect(mistakesOf({ TRIBUTARY_MQTT_SHARE: 'bar' })).toContain('apply to an outside broker only')
    expect(printConfig({ TRIBUTARY_MQTT_PASSWORD: 'hunter2' })).not.toContain('hunter2')
  })

  test('names the Telegram bot, the secret of its webhook, and the API for TON', () => {
    const servicesIn = (env: Readonly<Record<string, string>>) =>
      readConfig(env).edges['expenses']?.checks.map(({ name }) => name)
    expect(servicesIn({})).toEqual([])
    const [token, secret] = ['7654321098:AAFakeTokenOfATestBot_0123456789abcd', 'hunter2hunter2hunter2']
    const env = {
      TRIBUTARY_TELEGRAM_BOT_TOKEN: token,
      TRIBUTARY_TELEGRAM_WEBHOOK_SECRET: secret,
      TRIBUTARY_TON_API: 'https://toncenter.com/',
      TRIBUTARY_TON_API_KEY: 'hunter2',
    }
    expect(servicesIn(env)).toEqual(['Telegram', 'TON'])
    expect(readConfig(env).edges['expenses']?.checks[0]?.check()).toContain('accepts initData of the bot 7654321098')
    expect(printConfig(env)).not.toMatch(/hunter2|AAFake/)
    expect(printConfig(env)).toContain('TRIBUTARY_TON_API=https://toncenter.com')
    for (const [name, value] of [
      ['TELEGRAM_BOT_TOKEN', 'hunter2'],
      ['TELEGRAM_WEBHOOK_SECRET', 'hunter2'],
      ['TON_API', 'toncenter.com'],
      ['TON_API', 'https://x/?hunter2'],
    ] as const) {
      const mistakes = mistakesOf({ [`TRIBUTARY_${name}`]: value })
      expect(mistakes).toContain(`TRIBUTARY_${name} `)
      expect(mistakes).not.toContain('hunter2')
    }
    expect(mistakesOf({ TRIBUTARY_TON_API_KEY: 'x' })).toContain('TRIBUTARY_TON_API is not')
  })

  test('all mistakes are reported at once, each with its fix', () => {
    const mistakes = mistakesOf({
      TRIBUTARY_HTTP: 'everywhere',
      TRIBUTARY_ADMIN: '127.0.0.1:70000',
      TRIBUTARY_KAFKA: 'kafka',
      TRIBUTARY_DYNAMODB: 'ftp://x',
      TRIBUTARY_KAFKA_PARTITIONS: '-1',
      TRIBUTARY_QUOTA_READS: 'many',
      TRIBUTARY_LOG_LEVEL: 'loud',
      TRIBUTARY_KAFKA_SASL_USERNAME: 'u',
      TRIBUTARY_DATTA: 'x',
      TRIBUTARY_TIMESTREAM: 'somewhere',
    })
    expect(mistakes).toContain('10 mistakes')
    for (const name of [
      'HTTP',
      'ADMIN',
      'KAFKA',
      'DYNAMODB',
      'KAFKA_PARTITIONS',
      'QUOTA_READS',
      'LOG_LEVEL',
      'KAFKA_SASL_USERNAME',
      'DATTA',
      'TIMESTREAM',
    ]) {
      expect(mistakes).toContain(`TRIBUTARY_${name} `)
    }
    expect(mistakes).toContain('did you mean TRIBUTARY_DATA?')
    expect(mistakesOf({ TRIBUTARY_FOO: 'x' })).toContain('TRIBUTARY_FOO is not a variable of this program; unset it')
    expect(mistakesOf({ TRIBUTARY_KAFKA_SASL_PASWORT: 'x' })).toContain('did you mean TRIBUTARY_KAFKA_SASL_PASSWORD?')
  })

  test('an edge and an admin server with the same port are one mistake of the configuration', () => {
    const ports = (TRIBUTARY_HTTP: string, TRIBUTARY_ADMIN: string) => () =>
      requireTwoPorts(readConfig({ TRIBUTARY_HTTP, TRIBUTARY_ADMIN }))
    for (const [http, admin] of [
      ['127.0.0.1:8080', '127.0.0.1:8080'],
      ['0.0.0.0:9000', '127.0.0.1:9000'],
    ] as const)
      expect(ports(http, admin)).toThrow('name the same port. Set a different port for each')
    for (const [http, admin] of [
      ['127.0.0.1:0', '127.0.0.1:0'],
      ['127.0.0.1:8080', '127.0.0.1:8081'],
      ['10.0.0.1:80', '10.0.0.2:80'],
    ] as const)
      expect(ports(http, admin)).not.toThrow()
  })

  test('an empty variable counts as unset', () =>
    expect(readConfig({ TRIBUTARY_KAFKA: '', TRIBUTARY_DATA: '' }).kafka).toBeUndefined())

  test('cannot be changed afterwards', () => {
    const config = readConfig({})
    expect(Object.isFrozen(config) && Object.isFrozen(config.http)).toBe(true)
  })

  test('a secret can be in a file', () => {
    const path = join(mkdtempSync(join(tmpdir(), 'tributary-')), 'password')
    writeFileSync(path, 'from a file\n')
    const env = {
      TRIBUTARY_KAFKA: 'one:9092',
      TRIBUTARY_KAFKA_SASL_USERNAME: 'u',
      TRIBUTARY_KAFKA_SASL_PASSWORD_FILE: path,
    }
    expect(readConfig(env).kafka?.sasl?.password).toBe('from a file')
    expect(mistakesOf({ ...env, TRIBUTARY_KAFKA_SASL_PASSWORD: 'both' })).toContain('unset one of them')
    expect(mistakesOf({ ...env, TRIBUTARY_KAFKA_SASL_PASSWORD_FILE: `${path}.none` })).toContain('cannot be read')
  })

  test('is shown with secrets hidden', () => {
    const shown = printConfig({
      TRIBUTARY_KAFKA: 'one:9092',
      TRIBUTARY_KAFKA_SASL_USERNAME: 'u',
      TRIBUTARY_KAFKA_SASL_PASSWORD: 'hunter2',
    })
    expect(shown).toContain('TRIBUTARY_KAFKA=one:9092')
    expect(shown).toContain('TRIBUTARY_KAFKA_SASL_PASSWORD=(hidden)')
    expect(shown).not.toContain('hunter2')
  })
})
