import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lmdbStores } from '../../../../processors/adapters/lmdb/store.ts'
import { storeContract } from '../../../contracts/store.ts'

storeContract('embedded', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-store-'))
  return { stores: lmdbStores({ folder }), cleanup: () => rm(folder, { recursive: true }) }
})
