import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { expensesEdge } from '../../../producers/expenses.ts'
import { mealsEdge } from '../../../producers/meals.ts'
import { scalesEdge } from '../../../producers/scales.ts'

const ROOT = join(import.meta.dirname, '../../..')

test.each([expensesEdge, mealsEdge, scalesEdge])('$name: Tributary-After waits for derived events if a fold derives any', ({ name, ...edge }) => {
  const folder = join(ROOT, 'processors', name)
  const source = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8')).join('\n')
  expect('derives' in edge && edge.derives === true).toBe(/\.derive\(|derived: \[/.test(source))
})

test('README names every route that Tributary-After does not cover on DynamoDB', () => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
  for (const { url, byIndex } of [...expensesEdge.routes, ...mealsEdge.routes, ...scalesEdge.routes]) if (byIndex === true) expect(readme).toContain(`\`${url}\``)
})
