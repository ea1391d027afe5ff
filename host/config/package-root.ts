import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Returns the nearest folder above a file that contains a package.json. `file` is a URL. Default: the folder of this program. */
export const packageRoot = (file: string = import.meta.url): string => {
  const folder = new URL('.', file)
  const above = new URL('..', folder)
  return existsSync(new URL('package.json', folder)) || above.href === folder.href
    ? fileURLToPath(folder)
    : packageRoot(above.href)
}
