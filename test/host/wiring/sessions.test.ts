import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lmdbStores } from '../../../processors/adapters/lmdb/store.ts'
import { memoryStore } from '../../../testing/memory-store.ts'
import { sessionsContract } from '../../contracts/sessions.ts'

sessionsContract('embedded', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-sessions-'))
  const stores = lmdbStores({ folder })
  const open = stores.create
  let table: ReturnType<typeof open> | undefined
  return {
    stores: { create: (spec, generation) => (table ??= open(spec, generation)) },
    async cleanup() {
      await stores.close()
      await rm(folder, { recursive: true })
    },
  }
})

sessionsContract('in memory', async () => {
  const store = memoryStore()
  return { stores: { create: async () => store }, cleanup: async () => undefined }
})
