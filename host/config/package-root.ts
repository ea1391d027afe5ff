import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The folder with this program's package.json. It is two folders above this source, and three above the built file. */
export const packageRoot = (): string => {
  const root = ['../../', '../../../']
    .map((relative) => new URL(relative, import.meta.url))
    .find((url) => existsSync(new URL('package.json', url)))
  return fileURLToPath(root ?? new URL('../../', import.meta.url))
}
