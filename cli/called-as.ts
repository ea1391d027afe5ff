import { basename, dirname, isAbsolute, relative } from 'node:path'

/**
 * The words with which a person calls this program again from `cwd`: `node bin/tributary.js` in a clone, `npx tributary` if it is a
 * dependency of the package in `cwd`, else `tributary`. In a clone `npx tributary` would pack and install the program first.
 */
export const calledAs = (script: string | undefined, cwd: string): string => {
  if (script === undefined) return 'tributary'
  if (basename(script) === 'tributary.js') {
    const path = relative(cwd, script)
    return `node ${quoted(path.startsWith('..') || isAbsolute(path) ? script : path)}`
  }
  return basename(dirname(script)) === '.bin' ? 'npx tributary' : 'tributary'
}

const quoted = (path: string): string =>
  /^[\w./:\\-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`
