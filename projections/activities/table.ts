import { ACCESS_KINDS, TOKEN_INDEX, TTL } from '../access/table.ts'
import type { TableSpec } from '../table.ts'
import {
  claims,
  connections,
  goneProfiles,
  ledgerPages,
  ledgers,
  milestoneLists,
  milestoneParts,
  milestones,
  modelParts,
  models,
  owners,
  profiles,
  sagas,
  syncs,
  webhooks,
  workouts,
} from './keys.ts'

export const activitiesTable: TableSpec = {
  name: 'CommitCollect',
  ttl: TTL,
  indexes: [TOKEN_INDEX],
  kinds: [
    ...[profiles, goneProfiles, connections, workouts, syncs, ledgerPages, ledgers, milestoneLists, milestones].map(
      ({ kind }) => kind,
    ),
    ...[milestoneParts, sagas, webhooks, claims, owners, models, modelParts].map(({ kind }) => kind),
    ...ACCESS_KINDS,
  ],
}
