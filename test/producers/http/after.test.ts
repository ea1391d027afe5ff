import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { expensesEdge } from '../../../producers/expenses/edge.ts'
import { mealsEdge } from '../../../producers/meals/edge.ts'
import { scalesEdge } from '../../../producers/scales/edge.ts'

const ROOT = join(import.meta.dirname, '../../..')

test.each([expensesEdge, mealsEdge, scalesEdge])(
  '$name: Tributary-After waits for derived events if a fold derives any',
  ({ name, ...edge }) => {
    const folder = join(ROOT, 'processors', name)
    const source = readdirSync(folder)
      .map((file) => readFileSync(join(folder, file), 'utf8'))
      .join('\n')
    expect('derives' in edge && edge.derives === true).toBe(/\.derive\(|derived: \[/.test(source))
  },
)

test('docs/guarantees.md names every route that Tributary-After does not cover on DynamoDB', () => {
  const page = readFileSync(join(ROOT, 'docs', 'guarantees.md'), 'utf8')
  for (const { url, byIndex } of [...expensesEdge.routes, ...mealsEdge.routes, ...scalesEdge.routes])
    if (byIndex === true) expect(page).toContain(`\`${url}\``)
})
