import { expect, test } from 'vitest'
import { calledAs } from '../../cli/called-as.ts'

test.each([
  ['/clone/bin/tributary.js', '/clone', 'start', 'node bin/tributary.js'],
  ['/clone/bin/tributary.js', '/elsewhere', undefined, 'node /clone/bin/tributary.js'],
  ["/it's a clone/bin/tributary.js", '/', undefined, String.raw`node 'it'\''s a clone/bin/tributary.js'`],
  ['/app/node_modules/.bin/tributary', '/app', undefined, 'npx tributary'],
  ['/usr/local/bin/tributary', '/app', undefined, 'tributary'],
  [undefined, '/app', undefined, 'tributary'],
  ['/plants/node_modules/tributary/bin/tributary.js', '/plants', 'tributary', 'npm run -s tributary --'],
])('a program started as %s in %s by the npm script %s is called again as %s', (script, cwd, npmScript, expected) => {
  expect(calledAs({ script, cwd, npmScript })).toBe(expected)
})
