import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { controlRoutes } from '../../../../domains/activities/strava-local/control.ts'
import { createLoad } from '../../../../domains/activities/strava-local/load.ts'
import { defaultSettings } from '../../../../domains/activities/strava-local/settings.ts'
import { createLocalStrava } from '../../../../domains/activities/strava-local/strava.ts'

const page = readFileSync(join(import.meta.dirname, '../../../../docs/strava-local.md'), 'utf8')
const [before = '', control = ''] = page.split('## Control API')

/** The cells of each row of the tables of a text, without headings. */
const rowsOf = (text: string): readonly (readonly string[])[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('| ') && !/^\| (behaviour|route|kind) /.test(line))
    .map((line) => line.slice(2, -2).split(' | '))

test('every behaviour has a source and a test that exists', () => {
  const files = Object.fromEntries(
    readdirSync(import.meta.dirname)
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => [name.replace('.test.ts', ''), readFileSync(join(import.meta.dirname, name), 'utf8')]),
  )
  const rows = rowsOf(before)
  expect(rows.length).toBeGreaterThan(40)
  for (const [behaviour, source, tests = ''] of rows) {
    expect(source, behaviour).toBeTruthy()
    for (const named of tests.split(' · ')) {
      const [, file = '', name = ''] = /^([\w-]+): (.+)$/.exec(named) ?? []
      expect(files[file], named).toContain(name)
    }
  }
})

test('the page lists every route of the control API, and no other', () => {
  const strava = createLocalStrava(1)
  const routes = controlRoutes(strava, createLoad(strava)).map(({ method, path }) => `\`${method} ${path}\``)
  const listed = rowsOf(control).flatMap(([cell = '']) => (cell.includes('/control/') ? [cell] : []))
  expect(listed.toSorted()).toEqual(routes.toSorted())
})

test('the page names every setting', () => {
  for (const name of Object.keys(defaultSettings())) expect(control).toContain(`\`${name}\``)
})
