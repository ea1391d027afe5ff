import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lmdbLogs } from '../../../../processors/adapters/lmdb/log.ts'
import { logContract } from '../../../contracts/log.ts'
import type { LogSetup } from '../../../contracts/log-records.ts'

logContract('embedded', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-log-'))
  const setup: LogSetup = {
    logs: lmdbLogs({ folder }),
    cleanup: async () => {
      await setup.logs.close()
      await rm(folder, { recursive: true })
    },
    reopen: async () => {
      await setup.logs.close()
      return lmdbLogs({ folder })
    },
  }
  return setup
})
