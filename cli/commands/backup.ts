import { join, resolve } from 'node:path'
import { destroyedIn, emptyFolder, refuseNested, writeManifest } from '../../host/folder/backup.ts'
import { configOf } from '../context.ts'
import type { Context } from '../context.ts'
import { count } from '../../host/serving/meter.ts'
import { EXIT } from '../output.ts'
import type { Exit } from '../output.ts'
import { callOperation } from '../../host/ipc/call-operation.ts'
import { KEY_FILE } from '../../host/wiring/sealing.ts'

export interface BackupOptions {
  readonly folder: string
  readonly keys: string
  readonly json?: true
}

/**
 * Backs up the data folder. The running server writes the copies, or this process if no server runs. Then this process reads the copies and
 * writes the list of the files with their checksums.
 */
export const backup = async (context: Context, { json, ...options }: BackupOptions): Promise<Exit> => {
  const [folder, keys] = [resolve(options.folder), resolve(options.keys)]
  refuseNested(resolve(configOf(context).data), folder, keys)
  for (const each of [folder, keys]) emptyFolder(each)
  const begun = new Date().toISOString()
  await callOperation(context, { name: 'backup', args: { folder, keys } })
  const destroyed = destroyedIn(join(keys, KEY_FILE))
  await writeManifest(keys, { begun, destroyed })
  const { files } = await writeManifest(folder, { begun, destroyed })
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  context.output.line(
    json === true
      ? JSON.stringify({ folder, keys, begun, files: files.length, bytes })
      : `${options.folder}: ${count(files.length)} files, ${count(bytes)} bytes, with every event acknowledged before ${begun}\n${options.keys}: the keys that open personal data. Store them apart from ${options.folder}, and delete older copies.`,
  )
  return EXIT.fine
}
