import { existsSync, readFileSync } from 'node:fs'

/** Of package.json, which lies one folder above the sources and two above the built program. */
export const version = (): string => {
  const path = ['../package.json', '../../package.json'].map((relative) => new URL(relative, import.meta.url)).find((url) => existsSync(url))
  if (path === undefined) return 'unknown'
  const { version: number } = JSON.parse(readFileSync(path, 'utf8')) as { version: string }
  return number
}
