import { activitiesRecord } from '../../domains/activities.ts'
import { domainContract } from '../../testing/contract/contract.ts'
import { aHistory } from '../processors/activities/arbitrary.ts'
import { ATHLETE, idOf, MORNING, REF, START_S } from '../processors/activities/events.ts'

domainContract({
  record: activitiesRecord,
  pools: {
    keys: ['ada', 'bob'],
    fields: () => ({
      userId: ['ada', 'bob'],
      epoch: [1],
      ref: ['r1', 'r2', REF],
      missing: ['r1'],
      asked: [START_S + 100, START_S + 500],
      eventTime: [START_S + 100, START_S + 300],
      updatesHash: ['a1b2c3d4'],
      activityId: [idOf('r1')],
      objectId: [idOf('r1')],
      athleteId: [ATHLETE],
      milestoneId: ['m1'],
      milestoneIds: ['m1'],
      modelId: ['rocket'],
      number: [1],
      partsTotal: [1],
      totalTarget: [1_000, 100_000],
      periodStart: [MORNING - 86_400_000],
      startDate: [MORNING],
      startDateLocal: [MORNING],
      requestedAt: [MORNING],
      distanceDm: [0, 83_334, 1_000_000],
      version: [1, 2],
      secretVersion: [1, 2],
      run: [1, 2],
      page: [1, 2],
      cursor: [0],
    }),
  },
  history: aHistory,
  further: { 'activities-audit': { storesNoTexts: true } },
})
