import { expect, test } from 'vitest'
import { calledAs } from '../../cli/called-as.ts'

test.each([
  ['/clone/bin/tributary.js', '/clone', 'node bin/tributary.js'],
  ['/clone/bin/tributary.js', '/elsewhere', 'node /clone/bin/tributary.js'],
  ["/it's a clone/bin/tributary.js", '/', String.raw`node 'it'\''s a clone/bin/tributary.js'`],
  ['/app/node_modules/.bin/tributary', '/app', 'npx tributary'],
  ['/usr/local/bin/tributary', '/app', 'tributary'],
  [undefined, '/app', 'tributary'],
])('hints call a program that was started as %s in %s by the command %s', (script, cwd, expected) => {
  expect(calledAs(script, cwd)).toBe(expected)
})
