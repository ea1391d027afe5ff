import { basename, dirname, isAbsolute, relative } from 'node:path'

/** How this program was started. */
export interface Call {
  /** The path of the program: `process.argv[1]`. */
  readonly script: string | undefined
  readonly cwd: string
  /** The name of the npm script that runs the program. Undefined if npm does not run it. */
  readonly npmScript?: string | undefined
}

/**
 * The words with which a person calls this program again from `cwd`: `npm run -s tributary --` if an npm script of this name runs the
 * program, as in a package of `tributary new`. Else `node bin/tributary.js` in a clone, `npx tributary` if it is a dependency of the package
 * in `cwd`, else `tributary`. In a clone `npx tributary` would pack and install the program first.
 */
export const calledAs = ({ script, cwd, npmScript }: Call): string => {
  if (npmScript === 'tributary') return 'npm run -s tributary --'
  if (script === undefined) return 'tributary'
  if (basename(script) === 'tributary.js') {
    const path = relative(cwd, script)
    return `node ${quoted(path.startsWith('..') || isAbsolute(path) ? script : path)}`
  }
  return basename(dirname(script)) === '.bin' ? 'npx tributary' : 'tributary'
}

const quoted = (path: string): string =>
  /^[\w./:\\-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`
