import { projection, type Domain } from '../../projections/projection.ts'
import { logKeyOf } from '../../projections/scales/keys.ts'
import { scalesTable } from '../../projections/scales/table.ts'
import type { CommonEvent } from '../../schemas/generated/common.ts'
import type {
  DeviceRegistered,
  DeviceReleased,
  DeviceStatusReported,
  ReadingReported,
  ScalesEvent,
  TareRecorded,
  TelemetryReported,
} from '../../schemas/generated/scales.ts'
import { forgetting } from '../folding/forgotten.ts'
import { ACCESS_EVENTS, accessFolds } from '../folding/tokens.ts'
import { alertAcknowledged, graceElapsed } from './alerts.ts'
import { beerKegWeightMeasured, beerKegWeightsSet } from './beer-weights.ts'
import { beerChanged, beerDefined, beerRemoved } from './beers.ts'
import { deviceClaimed, deviceClaimReleased } from './claims.ts'
import { deviceRegistered, deviceReleased, deviceStatusReported } from './devices.ts'
import { kegAssignmentCorrected, kegFinished, kegTapped, pourVoided } from './kegs.ts'
import { locationOpened, memberAdded, memberRemoved } from './members.ts'
import { readingQuarantined } from './quarantine.ts'
import { readingReported, telemetryReported } from './readings.ts'
import { locationSettingsChanged } from './settings.ts'
import { silenceDue } from './silence.ts'
import { deviceAssigned, deviceUnassigned, tapRemoved } from './taps.ts'
import { deviceCalibrated, tareRecorded } from './tares.ts'
import { tokenIssued } from './tokens.ts'
import {
  readingTelemetry,
  registrationTelemetry,
  releaseTelemetry,
  statusTelemetry,
  tareTelemetry,
  messageTelemetry,
} from './telemetry.ts'

/** The events of the telemetry projection. None of its folds refuses an event. */
type TelemetryEvent =
  ReadingReported | TelemetryReported | DeviceStatusReported | TareRecorded | DeviceRegistered | DeviceReleased

const { personalItems, personForgotten } = forgetting()

export const scales: Domain = {
  name: 'scales',
  topic: 'scales.events',
  table: scalesTable,
  partitions: { keyIn: logKeyOf, example: 'LOCATION#loc-001, KEG#keg-20261116-4f0k2m9x1z or DEVICE#SCALE-0042' },
  foldVersion: 4,
  keyedByPeople: ACCESS_EVENTS,
  personal: personalItems,
  projections: [
    projection<ScalesEvent | CommonEvent>('scales', {
      LocationOpened: locationOpened,
      MemberAdded: memberAdded,
      MemberRemoved: memberRemoved,
      LocationSettingsChanged: locationSettingsChanged,
      DeviceClaimed: deviceClaimed,
      DeviceClaimReleased: deviceClaimReleased,
      DeviceRegistered: deviceRegistered,
      DeviceReleased: deviceReleased,
      DeviceStatusReported: deviceStatusReported,
      DeviceAssigned: deviceAssigned,
      DeviceUnassigned: deviceUnassigned,
      DeviceCalibrated: deviceCalibrated,
      TapRemoved: tapRemoved,
      KegTapped: kegTapped,
      KegFinished: kegFinished,
      KegAssignmentCorrected: kegAssignmentCorrected,
      PourVoided: pourVoided,
      TareRecorded: tareRecorded,
      ReadingReported: readingReported,
      TelemetryReported: telemetryReported,
      ReadingQuarantined: readingQuarantined,
      SilenceDue: silenceDue,
      GraceElapsed: graceElapsed,
      AlertAcknowledged: alertAcknowledged,
      BeerDefined: beerDefined,
      BeerChanged: beerChanged,
      BeerRemoved: beerRemoved,
      BeerKegWeightsSet: beerKegWeightsSet,
      BeerKegWeightMeasured: beerKegWeightMeasured,
      ...accessFolds,
      PatIssued: tokenIssued,
      PersonForgotten: personForgotten,
    }),
    projection<TelemetryEvent>('telemetry', {
      ReadingReported: readingTelemetry,
      TelemetryReported: messageTelemetry,
      DeviceStatusReported: statusTelemetry,
      TareRecorded: tareTelemetry,
      DeviceRegistered: registrationTelemetry,
      DeviceReleased: releaseTelemetry,
    }),
  ],
}
