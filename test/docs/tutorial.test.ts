import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { water } from '../../docs/tutorial/water.ts'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const tutorial = read('docs/tutorial.md')
const blocks = [...tutorial.matchAll(/^`(docs\/tutorial\/[^`]+)`\n\n```\w+\n([\s\S]*?)\n```$/gm)].map(([, path = '', code = '']) => ({ path, code }))

test('every file the tutorial shows is the file in the tree', () => {
  expect(blocks.map(({ path }) => path)).toEqual(['docs/tutorial/PlantWatered.avsc', 'docs/tutorial/plants.ts', 'docs/tutorial/water.ts'])
  for (const { path, code } of blocks) expect(read(path).trimEnd(), path).toBe(code)
})

test('the code of the tutorial runs, and answers what the tutorial says', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-tutorial-'))
  const shown = /answers:\n\n```json\n([\s\S]*?)\n```/.exec(tutorial)?.[1] ?? ''
  try {
    expect(await water(folder)).toEqual(JSON.parse(shown))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
