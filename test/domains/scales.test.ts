import { scalesRecord } from '../../domains/scales.ts'
import { domainContract } from '../../testing/contract/contract.ts'
import { GUINNESS, createRunningBar } from '../producers/scales/bar.ts'
import { aHistory } from '../processors/scales/arbitrary.ts'
import { MINUTE, NOW } from '../processors/scales/events.ts'

domainContract({
  record: scalesRecord,
  pools: {
    keys: ['loc-001', 'loc-002'],
    people: ['ann', 'SCALE-1'],
    fields: (loc) => ({
      device_id: [`${loc}-A`],
      epoch: [1],
      keg_id: [`${loc}-k1`],
      tap: ['01', '02'],
      boot: ['b1'],
      at: [NOW, NOW + MINUTE],
      tapped_at: [NOW],
      weight_lbs: [50, 95.25, -5, 161.5],
      type: ['low_keg', 'silent_device'],
      entity: ['TAP#01', `DEVICE#${loc}-A`],
      beer_id: ['guinness'],
      keg_type: ['half_barrel'],
    }),
  },
  history: aHistory,
  // True if a repeat of the event must change nothing. Before the registration of its device, a TareRecorded changes only the keg. Its repeat after
  // the registration changes the telemetry, too. So the result is true for a TareRecorded only if it changed all projections.
  isApplied: ({ type }, changed) => (type === 'TareRecorded' ? !changed.includes(false) : changed.includes(true)),
  further: {
    'scales-series': {
      // The repeat of a measurement can change an item again, if the tap has changed since. Its point stays the same. So the result is never true for
      // a measurement.
      isApplied: ({ type }, changed) =>
        !['ReadingReported', 'TelemetryReported'].includes(type) && changed.includes(true),
    },
  },
  http: {
    // The edge of this suite has no series store, so requests for series are answered with this code.
    unavailable: ['series-absent'],
    prepare: async (edge) => {
      const { token, keg } = await createRunningBar(edge)
      const at = '2026-11-16T11:30:00Z'
      return {
        token,
        values: {
          id: ['none'],
          loc: ['loc-001'],
          loc_id: ['loc-001'],
          tap: ['07', '08'],
          device: ['SCALE-0042'],
          device_id: ['SCALE-0042', 'SCALE-0043'],
          keg: [keg],
          keg_id: [keg],
          beer: [GUINNESS.beer_id],
          beer_id: [GUINNESS.beer_id],
          type: ['half_barrel'],
          keg_type: ['half_barrel'],
          alert: ['low_keg:TAP:07'],
          user: ['bob'],
          token: ['none'],
          from: [at],
          to: ['2026-11-16T12:00:00Z'],
          at: [at],
          tapped_at: [at],
          timezone: ['UTC'],
          specific_gravity: [1.01],
        },
      }
    },
  },
})
