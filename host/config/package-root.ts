import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The nearest folder above a file, as a URL, that has a package.json. Default: the folder of this program. */
export const packageRoot = (file: string = import.meta.url): string => {
  const folder = new URL('.', file)
  const above = new URL('..', folder)
  return existsSync(new URL('package.json', folder)) || above.href === folder.href
    ? fileURLToPath(folder)
    : packageRoot(above.href)
}
