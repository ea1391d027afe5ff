import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { Fault, messageOf } from '../../schemas/fault.ts'
import { syncPath } from '../../processors/adapters/sync-path.ts'
import {
  checkBackup,
  destroyedIn,
  isOneFolder,
  notOneFolder,
  refuseNested,
  type Manifest,
} from '../../host/folder/backup.ts'
import { configOf } from '../context.ts'
import type { Context } from '../context.ts'
import { connectToServer } from '../../host/folder/folder.ts'
import type { Exit } from '../output.ts'
import type { GenerationRow } from '../../host/ipc/operations/generations.ts'
import { withOperations, type CallOperation } from '../../host/ipc/call-operation.ts'
import { KEY_FILE, keyFileIn } from '../../host/wiring/sealing.ts'
import { rebuild } from './rebuild.ts'
import { verify } from './verify.ts'

export interface RestoreOptions {
  readonly folder: string
  readonly keys: string
}

/** Writes a new folder next to the data folder and renames it at the end, so that an interrupted restore leaves no incomplete data folder. */
export const restore = async (context: Context, options: RestoreOptions): Promise<Exit> => {
  const config = configOf(context)
  if (!isOneFolder(config)) throw notOneFolder()
  const [data, folder, keys] = [resolve(config.data), resolve(options.folder), resolve(options.keys)]
  refuseNested(data, folder, keys)
  await refuseUsed(data)
  context.output.progress('checking the backup')
  const [files, keyFiles] = [await checkBackup(folder), await checkBackup(keys)]
  if (!keyFiles.files.some(({ path }) => path === KEY_FILE))
    throw new Fault(
      'backup-damaged',
      `${keys} is not the key folder of a backup: it has no ${KEY_FILE}. Nothing was restored.`,
    )
  if (keyFiles.destroyed < files.destroyed)
    throw new Fault(
      'restore-keys-older',
      `The keys in ${options.keys} are older than the backup: people were forgotten in between, and these keys would make their data readable again. Use the newest copy of the keys. Nothing was restored.`,
    )
  mkdirSync(dirname(data), { recursive: true })
  const draft = mkdtempSync(join(dirname(data), `${basename(data)}.restoring-`))
  try {
    copy(files, folder, draft)
    mkdirSync(dirname(keyFileIn(draft)), { mode: 0o700 })
    cpSync(join(keys, KEY_FILE), keyFileIn(draft))
    for (const path of [keyFileIn(draft), dirname(keyFileIn(draft)), draft]) syncPath(path)
    moveTo(draft, data)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    throw error
  }
  context.output.note(`${config.data} contains the backup that began at ${files.begun}.`)
  await dropUnfinished(context)
  if (destroyedIn(keyFileIn(data)) > files.destroyed) await forgetAgain(context)
  else await rebuildOlder(context)
  context.output.note('Comparing every item with its events.')
  return verify(context, {})
}

/** Drops the generations that were being built during the backup, because the backup does not contain their files. */
const dropUnfinished = (context: Context): Promise<void> =>
  withOperations(context, {}, async (call) => {
    for (const { domain, generation, state } of await generationsIn(call)) {
      if (state === 'serving' || state === 'following' || state === 'standing') continue
      await call('generations-drop', { domain, generation })
      context.output.note(`Generation ${generation} of ${domain} was incomplete when the backup began. It is dropped.`)
    }
  })

/**
 * Called if the keys are newer than the backup and people were forgotten in between. The items of the backup still contain the text of these people.
 * So this rebuilds every domain from the log, and drops the generations of the backup.
 */
const forgetAgain = async (context: Context): Promise<void> => {
  context.output.note('People were forgotten after this backup. Every domain is rebuilt without their text.')
  const before = await withOperations(context, {}, generationsIn)
  for (const { name } of context.domains.all) await rebuild(context, { domain: name, flip: true, yes: true })
  await withOperations(context, {}, async (call) => {
    for (const { domain, generation } of before) await call('generations-drop', { domain, generation })
  })
}

/** Rebuilds each domain whose serving generation has another fold version, because this release can neither serve nor verify it. */
const rebuildOlder = async (context: Context): Promise<void> => {
  const serving = (await withOperations(context, {}, generationsIn)).filter(({ state }) => state === 'serving')
  for (const { name, foldVersion } of context.domains.all) {
    if (serving.every((row) => row.domain !== name || row.foldVersion === foldVersion)) continue
    context.output.note(`${name} is rebuilt: the backup is of a release with another fold version.`)
    await rebuild(context, { domain: name, flip: true, yes: true })
  }
}

const generationsIn = async (call: CallOperation): Promise<readonly GenerationRow[]> => {
  const rows: GenerationRow[] = []
  await call('generations', {}, (row) => rows.push(row))
  return rows
}

const refuseUsed = async (data: string): Promise<void> => {
  const server = existsSync(data) ? await connectToServer(data) : undefined
  server?.destroy()
  if (server !== undefined)
    throw new Fault(
      'data-folder-in-use',
      `The data folder ${data} is used by a running tributary process. Stop it first.`,
    )
  if (existsSync(data) && readdirSync(data).length > 0) throw notEmpty(data)
}

const notEmpty = (data: string): Fault =>
  new Fault(
    'restore-not-empty',
    `The data folder ${data} is not empty, and a restore replaces no files. Move it away, or set TRIBUTARY_DATA to a new folder.`,
  )

const copy = ({ files }: Manifest, from: string, to: string): void => {
  const folders = new Set<string>()
  for (const { path } of files) {
    mkdirSync(dirname(join(to, path)), { recursive: true, mode: 0o700 })
    cpSync(join(from, path), join(to, path))
    syncPath(join(to, path))
    folders.add(dirname(join(to, path)))
  }
  for (const folder of folders) syncPath(folder)
}

const moveTo = (draft: string, data: string): void => {
  try {
    renameSync(draft, data)
  } catch (error) {
    if (existsSync(data) && readdirSync(data).length > 0) throw notEmpty(data)
    throw new Fault('data-folder-unusable', `The restored folder cannot be moved to ${data} (${messageOf(error)}).`, {
      cause: error,
    })
  }
  syncPath(dirname(data))
}
