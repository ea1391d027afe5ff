import { createHash } from 'node:crypto'
import { createReadStream, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { openKeyFile } from '../../processors/adapters/key-file/file.ts'
import { syncPath } from '../../processors/adapters/sync-path.ts'
import { Fault } from '../../schemas/fault.ts'
import type { Config } from '../config/config.ts'

/** True if the log, the tables and the keys are all in the data folder. Only then `backup` and `restore` work. */
export const isOneFolder = ({ kafka, dynamodb }: Pick<Config, 'kafka' | 'dynamodb'>): boolean =>
  kafka === undefined && dynamodb === undefined

export const notOneFolder = (): Fault =>
  new Fault(
    'backup-services',
    'Only an embedded data folder is backed up and restored by these commands. See docs/operating.md for Kafka and DynamoDB.',
  )

const MANIFEST = 'backup.json'
const FORMAT = 1

interface FileEntry {
  readonly path: string
  readonly bytes: number
  readonly sha256: string
}

/** The list of the files of a backup. It is written last, so a backup without this list is not complete. */
export interface Manifest {
  readonly format: number
  /** The time at which the backup began, RFC 3339. Every event that was acknowledged before this time is in the backup. */
  readonly begun: string
  /** The number of keys of people that the key file of the backup lists as destroyed. */
  readonly destroyed: number
  readonly files: readonly FileEntry[]
}

/** The number of keys of people that a key file lists as destroyed. */
export const destroyedIn = (keyFile: string): number => {
  const file = openKeyFile(keyFile, 'read')
  const destroyed = [...file.people.values()].reduce((sum, person) => sum + person.destroyed.length, 0)
  file.close()
  return destroyed
}

/** Creates a folder, or accepts an existing empty one. Fault: `backup-folder-not-empty`. */
export const emptyFolder = (folder: string): void => {
  if (existsSync(folder) && (!statSync(folder).isDirectory() || readdirSync(folder).length > 0)) {
    throw new Fault('backup-folder-not-empty', `${folder} is not an empty folder. Name a new folder for each backup.`)
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 })
}

/** Fault: `bad-usage` if two of the folders are the same, or if one folder contains another. */
export const refuseNested = (...folders: readonly string[]): void => {
  const paths = folders.map((folder) => resolve(folder) + sep)
  for (const [index, path] of paths.entries()) {
    const outer = paths.findIndex((folder, at) => at !== index && path.startsWith(folder))
    if (outer >= 0)
      throw new Fault(
        'bad-usage',
        `The folder ${folders[index]} is in ${folders[outer]}. Use folders that do not contain each other: with the keys next to the log, a forgotten person can be restored.`,
      )
  }
}

/** Writes the list of the files in the folder, and syncs all of them to disk. */
export const writeManifest = async (
  folder: string,
  { begun, destroyed }: Pick<Manifest, 'begun' | 'destroyed'>,
): Promise<Manifest> => {
  const files: FileEntry[] = []
  for (const path of filesIn(folder)) {
    syncPath(join(folder, path))
    files.push({ path, ...(await measure(join(folder, path))) })
  }
  const manifest = { format: FORMAT, begun, destroyed, files }
  writeFileSync(join(folder, MANIFEST), `${JSON.stringify(manifest, null, 1)}\n`, { mode: 0o600 })
  syncPath(join(folder, MANIFEST))
  for (const path of new Set([
    ...files.map(({ path: file }) => dirname(join(folder, file))),
    folder,
    dirname(resolve(folder)),
  ]))
    syncPath(path)
  return manifest
}

/** Reads the manifest and compares every file with it. Fault: `backup-damaged`, `backup-incomplete` or `data-newer-version`. */
export const checkBackup = async (folder: string): Promise<Manifest> => {
  const manifest = manifestIn(folder)
  for (const { path, bytes, sha256 } of manifest.files) {
    const file = join(folder, path)
    if (path.split(/[\\/]/).includes('..') || !existsSync(file)) throw damaged(folder, `${path} is missing`)
    const found = await measure(file)
    if (found.bytes !== bytes || found.sha256 !== sha256)
      throw damaged(folder, `${path} differs from the file that the backup wrote`)
  }
  return manifest
}

const manifestIn = (folder: string): Manifest => {
  const file = join(folder, MANIFEST)
  if (!existsSync(file))
    throw new Fault(
      'backup-incomplete',
      `${folder} has no ${MANIFEST}: it is not a backup, or the backup did not finish. Use another backup.`,
    )
  try {
    const manifest = JSON.parse(readFileSync(file, 'utf8')) as Manifest
    if (manifest.format > FORMAT)
      throw new Fault(
        'data-newer-version',
        `${folder} was written by a newer program (format ${manifest.format}). Restore it with that program.`,
      )
    if (manifest.format === FORMAT && Array.isArray(manifest.files)) return manifest
  } catch (error) {
    if (error instanceof Fault) throw error
  }
  throw damaged(folder, `${MANIFEST} cannot be read`)
}

const damaged = (folder: string, what: string): Fault =>
  new Fault('backup-damaged', `The backup in ${folder} is damaged: ${what}. Nothing was restored. Use another backup.`)

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== MANIFEST && entry.name !== 'lock.mdb')
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort()

const measure = async (file: string): Promise<Pick<FileEntry, 'bytes' | 'sha256'>> => {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    hash.update(chunk)
    bytes += chunk.length
  }
  return { bytes, sha256: hash.digest('hex') }
}
