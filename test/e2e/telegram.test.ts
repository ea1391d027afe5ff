import { expect, test } from 'vitest'
import { BOT_TOKEN, openedBy, ZOFIE } from '../producers/expenses/telegram/signed.ts'
import { startTon } from '../services/ton.ts'
import { freshFolder, run, startServer, runOk, until } from './program.ts'

const SECRET = 'a-secret-of-the-webhook'

test(
  'E-h E-l the program accepts updates from Telegram and users of its Mini App, and doctor checks both',
  { timeout: 120_000 },
  async () => {
    const ton = await startTon('k3y')
    const env = {
      TRIBUTARY_DATA: freshFolder(),
      TRIBUTARY_TELEGRAM_BOT_TOKEN: BOT_TOKEN,
      TRIBUTARY_TELEGRAM_WEBHOOK_SECRET: SECRET,
      TRIBUTARY_TON_API: ton.url,
      TRIBUTARY_TON_API_KEY: 'k3y',
    }
    const server = await startServer(env)
    const date = Math.floor(Date.now() / 1000)
    const tell200 = async (update: object): Promise<void> => {
      const post = () =>
        fetch(`${server.url}/webhooks/telegram`, {
          method: 'POST',
          body: JSON.stringify(update),
          headers: { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': SECRET },
        })
      await until(
        async () => (await post()).status === 200,
        () => 'Telegram sends an update until it is taken',
      )
    }
    const groups = async (): Promise<readonly object[]> => {
      const answer = await fetch(`${server.url}/api/groups`, {
        headers: { authorization: `tma ${openedBy(ZOFIE, { at: Date.now() })}` },
      })
      return ((await answer.json()) as { readonly items: readonly object[] }).items
    }
    const chat = { id: -55, type: 'group', title: 'Tatry' }
    await tell200({
      update_id: 1,
      my_chat_member: {
        date,
        chat,
        from: ZOFIE,
        old_chat_member: { status: 'left' },
        new_chat_member: { status: 'member' },
      },
    })
    await tell200({
      update_id: 2,
      message: { date, chat, from: ZOFIE, new_chat_members: [{ id: 12, is_bot: false, first_name: 'Bob' }] },
    })
    await tell200({ update_id: 3, message: { date, chat, from: ZOFIE, migrate_to_chat_id: -10055 } })
    await until(
      async () => (await groups()).length === 1,
      () => 'the group is there to see',
    )
    await until(
      async () => JSON.stringify(await groups()).includes('"chatId":"-10055"'),
      () => 'the group moved',
    )
    expect(await groups()).toMatchObject([{ title: 'Tatry', memberCount: 2 }])
    expect(await (await fetch(`${server.admin}/metrics`)).text()).toMatch(
      /tributary_webhook_calls_total\{source="telegram",outcome="taken"\} [3-9]/,
    )

    const doctor = await runOk(['doctor'], env)
    expect(doctor).toContain(`ok   TON: ${ton.url} answers`)
    expect(doctor).toContain(
      'the edge accepts initData of the bot 7654321098; it accepts updates at /webhooks/telegram',
    )
    expect(doctor + (await runOk(['start', '--print-config'], env))).not.toMatch(/AAFake|a-secret|k3y/)
    expect(await run(['doctor'], { ...env, TRIBUTARY_TON_API_KEY: 'another' })).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/BAD {2}TON: .* answers HTTP 401/),
    })
    await ton.stop()
    expect(await run(['doctor'], env)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('does not answer. Correct TRIBUTARY_TON_API'),
    })
    expect(await server.stop()).toBe(0)
  },
)
