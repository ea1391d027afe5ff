import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The files of a folder, at any depth, that contain at least one of the texts. */
export const filesContaining = (folder: string, texts: readonly (string | Buffer)[]): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .filter((name) => texts.some((text) => readFileSync(join(folder, name)).includes(text)))
